;;; Testudo: a prover that rewrites terms by a small base of rules.
;;; SPDX-License-Identifier: BSD-2-Clause
;;; usage: rewrite.scm [rounds]
;;; Formulas are proved by rewriting to conditionals, lifting the conditions
;;; out of conditions, and asking whether the result is always true. The
;;; rules live long; terms share structure and die young.

(import (scheme base) (scheme write) (scheme process-context))

(define (argument i default)
  (let ((args (command-line)))
    (if (> (length args) i)
        (string->number (list-ref args i))
        default)))

;; Rules: (pattern . result); symbols that begin with ? are variables.
(define rules
  (let ((table '()))
    (define (add! head rule)
      (let ((entry (assq head table)))
        (if entry
            (set-cdr! entry (cons rule (cdr entry)))
            (set! table (cons (list head rule) table)))))
    (for-each
     (lambda (rule) (add! (car (car rule)) rule))
     '(((and ?p ?q) . (if ?p (if ?q (t) (f)) (f)))
       ((or ?p ?q) . (if ?p (t) (if ?q (t) (f))))
       ((not ?p) . (if ?p (f) (t)))
       ((implies ?p ?q) . (if ?p (if ?q (t) (f)) (t)))
       ((iff ?p ?q) . (and (implies ?p ?q) (implies ?q ?p)))
       ((xor ?p ?q) . (not (iff ?p ?q)))
       ((plus (zero) ?x) . ?x)
       ((plus (succ ?x) ?y) . (succ (plus ?x ?y)))
       ((times (zero) ?x) . (zero))
       ((times (succ ?x) ?y) . (plus ?y (times ?x ?y)))
       ((equal ?x ?x) . (t))
       ((equal (succ ?x) (succ ?y)) . (equal ?x ?y))
       ((equal (zero) (succ ?x)) . (f))
       ((equal (succ ?x) (zero)) . (f))
       ((append (nil) ?x) . ?x)
       ((append (cons ?x ?y) ?z) . (cons ?x (append ?y ?z)))
       ((reverse (nil)) . (nil))
       ((reverse (cons ?x ?y)) . (append (reverse ?y) (cons ?x (nil))))
       ((equal (cons ?a ?b) (cons ?c ?d)) . (and (equal ?a ?c) (equal ?b ?d)))
       ((equal (nil) (nil)) . (t))
       ((even (zero)) . (t))
       ((even (succ (zero))) . (f))
       ((even (succ (succ ?x))) . (even ?x))))
    table))

(define (variable? x)
  (and (symbol? x) (char=? (string-ref (symbol->string x) 0) #\?)))

;; An association list, or #f.
(define (match pattern term bindings)
  (cond ((not bindings) #f)
        ((variable? pattern)
         (let ((b (assq pattern bindings)))
           (cond ((not b) (cons (cons pattern term) bindings))
                 ((equal? (cdr b) term) bindings)
                 (else #f))))
        ((and (pair? pattern) (pair? term) (eq? (car pattern) (car term)))
         (let loop ((ps (cdr pattern)) (ts (cdr term)) (bindings bindings))
           (cond ((null? ps) (and (null? ts) bindings))
                 ((null? ts) #f)
                 (else
                  (let ((b (match (car ps) (car ts) bindings)))
                    (and b (loop (cdr ps) (cdr ts) b)))))))
        (else (and (eqv? pattern term) bindings))))

(define (instantiate template bindings)
  (cond ((variable? template) (cdr (assq template bindings)))
        ((pair? template)
         (cons (car template)
               (map (lambda (t) (instantiate t bindings)) (cdr template))))
        (else template)))

(define (try-rules term)
  (let ((entry (assq (car term) rules)))
    (and entry
         (let loop ((rs (cdr entry)))
           (and (pair? rs)
                (let ((b (match (car (car rs)) term '())))
                  (if b
                      (instantiate (cdr (car rs)) b)
                      (loop (cdr rs)))))))))

(define rewrites 0)

(define (rewrite term)
  (if (pair? term)
      (let* ((inner (cons (car term) (map rewrite (cdr term))))
             (next (try-rules inner)))
        (set! rewrites (+ rewrites 1))
        (if next (rewrite next) inner))
      term))

;; (if (if a b c) d e) -> (if a (if b d e) (if c d e))
(define (lift term)
  (if (and (pair? term) (eq? (car term) 'if))
      (let ((test (cadr term)) (yes (caddr term)) (no (cadddr term)))
        (if (and (pair? test) (eq? (car test) 'if))
            (lift (list 'if (cadr test)
                        (list 'if (caddr test) yes no)
                        (list 'if (cadddr test) yes no)))
            (list 'if test (lift yes) (lift no))))
      term))

(define (member? x l) (and (member x l) #t))

(define (tautology? term true false)
  (cond ((or (equal? term '(t)) (member? term true)) #t)
        ((or (equal? term '(f)) (member? term false)) #f)
        ((and (pair? term) (eq? (car term) 'if))
         (let ((test (cadr term)))
           (cond ((or (equal? test '(t)) (member? test true))
                  (tautology? (caddr term) true false))
                 ((or (equal? test '(f)) (member? test false))
                  (tautology? (cadddr term) true false))
                 (else
                  (and (tautology? (caddr term) (cons test true) false)
                       (tautology? (cadddr term) true (cons test false)))))))
        (else #f)))

(define (prove formula) (tautology? (lift (rewrite formula)) '() '()))

(define (number n) (if (= n 0) '(zero) (list 'succ (number (- n 1)))))

(define (list-term l)
  (if (null? l) '(nil) (list 'cons (car l) (list-term (cdr l)))))

(define theorems
  (list
   '(implies (and (implies p q) (implies q r)) (implies p r))
   '(iff (not (and p q)) (or (not p) (not q)))
   '(implies (and (iff p q) (iff q r))
             (iff p r))
   '(implies (and (or p q) (and (or (not q) r) (or (not r) s))) (or p s))
   '(implies (xor p q) (or p q))
   (list 'equal (list 'times (number 12) (number 11)) (number 132))
   (list 'even (list 'times (number 7) (number 14)))
   (list 'equal
         (list 'reverse (list 'reverse (list-term '(a b c d e f g h))))
         (list-term '(a b c d e f g h)))
   '(implies p q)
   '(or p (not q))))

(define (main rounds)
  (let loop ((i 1))
    (let ((proved (map prove theorems)))
      (if (< i rounds)
          (loop (+ i 1))
          (begin (display proved)
                 (newline)
                 (display "rewrites: ")
                 (display rewrites)
                 (newline))))))

(main (argument 1 100))
