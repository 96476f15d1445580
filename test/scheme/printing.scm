;;; Testudo: a test of the Scheme interpreter. SPDX-License-Identifier: BSD-2-Clause
;;; What `write` says reads back as the same. Guile labels also what is only
;;; shared and writes some names in its own way: here it is in a file.
(import (scheme base) (scheme write) (scheme read))

(define (text x) (let ((o (open-output-string))) (write x o) (get-output-string o)))
(define (datum s) (read (open-input-string s)))
(define (show x) (write x) (newline))

;; cycles that share pairs, entered at each of them
(define (cycles a b c)
  (set-car! (cdr a) a)
  (set-cdr! (cddr a) b)
  (for-each show (list a b c (cdr a) (vector a b))))
(let ((x (list 1 2 3)))
  (cycles x (cdr x) (cddr x)))
(let ((x (list 1 2 3)))
  (cycles x (cddr x) (list x x)))
(let ((v (vector 1 2)) (shared (list 'once)))
  (vector-set! v 0 (list v shared shared))
  (vector-set! v 1 (vector shared v))
  (show v)
  (show (list shared shared)))

;; all structures of three pairs whose fields are 1 or one of them
(define (field n ps) (if (= n 0) 1 (list-ref ps (- n 1))))
(define (structure code)
  (let ((ps (list (list 1) (list 1) (list 1))))
    (let loop ((l ps) (code code))
      (if (pair? l)
          (begin (set-car! (car l) (field (modulo code 4) ps))
                 (set-cdr! (car l) (field (modulo (quotient code 4) 4) ps))
                 (loop (cdr l) (quotient code 16)))))
    (car ps)))
(define bad
  (let loop ((code 0) (bad 0))
    (if (= code 4096)
        bad
        (let ((said (text (structure code))))
          (loop (+ code 1)
                (if (and (string=? said (text (datum said)))
                         (< (string-length said) 60))
                    bad
                    (+ bad 1)))))))
(show bad)

;; after an error while printing memory is collected as before
(define (nest n x) (if (= n 0) x (nest (- n 1) (list x))))
(define (collections) (cdr (assq 'collections (gc-statistics))))
(define (garbage n) (if (> n 0) (begin (cons n n) (garbage (- n 1)))))
(define before
  (guard (c (#t (show (error-object-message c)) (collections)))
    (text (nest 1000000 1))))
(let loop ((n 0))
  (if (and (= (collections) before) (< n 10000))
      (begin (garbage 10000) (loop (+ n 1)))))
(show (> (collections) before))

;; what is in a record or an error object may be circular, and it itself, too
(define-record-type node (make-node a) node? (a node-a set-node-a!))
(define (caught thunk) (guard (e (#t e)) (thunk)))
(show (make-node '#0=(1 . #0#)))
(let ((n (make-node 1)) (c (list 1)))
  (show (list (make-node c) c n n))
  (set-node-a! n n)
  (for-each show (list n (list n) (vector n 2)))
  (display n)
  (newline)
  (write-shared n)
  (newline)
  (set-node-a! n (list n 2))
  (show n))
(show (caught (lambda () (error "x" '#0=(1 . #0#)))))
(show (caught (lambda () (error '#0=(1 . #0#)))))
(let* ((e (caught (lambda () (error "x" 1)))) (irritants (error-object-irritants e)))
  (set-car! irritants e)
  (show e)
  (set-cdr! irritants irritants)
  (show (list irritants e)))
(show (let loop ((n 0) (d 0)) (if (< n 5) (loop (+ n 1) (make-node d)) d)))

;; symbols: bars unless the name is an identifier of the grammar in 7.1.1
(define (twice name)
  (let ((s (string->symbol name)))
    (if (not (eq? s (datum (text s)))) (display "not the same: "))
    (show s)))
(for-each twice
          '("" "a" "A" "a b" "a\\b" "[" "a]" "{" "}" "\x3bb;" "a|b" "a#b" "#" "#t" "'" "a'" "a;b" "a,b"
            "." ".." "..." ".a" ".5" ".5a" "+" "-" "+a" "->b" "--" "+5" "-5a" "1+" "-1+" "+." "+.a" "+.5" "-.e" "+.." "-@"
            "@" "a@b" "1" "1/2" "1/0" "1e3" "#xA" "+i" "-I" "+inf.0" "-INF.0" "+inf.0i" "-nan.0" "+info" "+infinite" "inf.0"
            "!$%&*/:<=>?^_~0.+-@" "a\nb" "a\x7f;" "\x0;"))
