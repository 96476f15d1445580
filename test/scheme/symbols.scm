;;; Testudo: symbols that come and go. Guile tells of its memory otherwise;
;;; symbols.out is what must come out.
;;; SPDX-License-Identifier: BSD-2-Clause
(import (scheme base) (scheme write) (scheme eval) (scheme cxr))
(define-syntax show
  (syntax-rules ()
    ((_ e) (begin (write e) (newline)))))

(define (name tag i) (string-append tag (number->string i)))
(define (symbol tag i) (string->symbol (name tag i)))
(define (count n ok? tag)
  (let loop ((i 0) (k 0))
    (if (= i n) k (loop (+ i 1) (if (ok? (symbol tag i) i) (+ k 1) k)))))

;; Whatever holds one: a list, a vector, a table, code, quoted data.
(define held (let loop ((i 0) (l '())) (if (= i 500) l (loop (+ i 1) (cons (symbol "held-" i) l)))))
(define in-vector (vector (string->symbol "in a vector") 'quoted-in-no-code))
(define table (make-equal-hash-table))
(hash-table-set! table (string->symbol "a key") (string->symbol "a value"))
(define quoted '(some (quoted . data) #(of several kinds)))
(define (select s)
  (case s ((only-in-code) 1) ((held-7) 2) (else 3)))
(define closure (let ((s (string->symbol "in a closure"))) (lambda () s)))

;; What has a value is found by its name, whoever has that.
(eval (list 'define (symbol "global-" 1) 11) (interaction-environment))
(eval (list 'define-syntax (symbol "keyword-" 1)
            '(syntax-rules () ((_ x) (list x 'keyword))))
      (interaction-environment))

;; So is what waits in a weak table.
(define weak (make-weak-key-hash-table))
(hash-table-set! weak (symbol "weak-" 1) 'value)
(hash-table-set! weak (list 1) 2)

;; A great many that nobody holds, some of them again and again.
(define (make-many n)
  (if (> n 0)
      (begin
        (symbol "many-" n)
        (if (= 0 (remainder n 1000)) (symbol "many-" 7))
        (make-many (- n 1)))))
(make-many 300000)
(gc)
(define (statistic key) (cdr (assq key (gc-statistics))))
(show (< (statistic 'committed) 32000000))

(show (let loop ((l held) (i 499) (ok #t))
        (if (null? l) ok (loop (cdr l) (- i 1) (and ok (eq? (car l) (symbol "held-" i)))))))
(show (eq? (vector-ref in-vector 0) (string->symbol "in a vector")))
(show (eq? (vector-ref in-vector 1) (string->symbol "quoted-in-no-code")))
(show (hash-table-ref/default table (string->symbol "a key") #f))
(show (eq? (hash-table-ref/default table (string->symbol "a key") #f) (string->symbol "a value")))
(show (map eq? (list (car quoted) (caadr quoted) (vector-ref (caddr quoted) 2))
           (map string->symbol '("some" "quoted" "kinds"))))
(show (map select (map string->symbol '("only-in-code" "held-7" "many-7"))))
(show (eq? (closure) (string->symbol "in a closure")))
(show (eval (symbol "global-" 1) (interaction-environment)))
(show (eval (list (symbol "keyword-" 1) 5) (interaction-environment)))
(show (hash-table-ref/default weak (symbol "weak-" 1) #f))
(show (count 1000 (lambda (s i) (string=? (symbol->string s) (name "many-" i))) "many-"))
(show (count 1000 (lambda (s i) (eq? s (symbol "many-" i))) "many-"))
(show (length (let loop ((l held) (found '()))
                (cond ((null? l) found)
                      ((memq (car l) found) (loop (cdr l) found))
                      (else (loop (cdr l) (cons (car l) found)))))))
