;;; Testudo: what the standard has and Guile has not; extra.out is what must
;;; come out. SPDX-License-Identifier: BSD-2-Clause
(import (scheme base) (scheme write) (scheme read) (scheme lazy))
(define (show x) (write x) (newline))
;; datum labels
(show (read (open-input-string "#0=(a . #0#)")))
(show (read (open-input-string "(#1=(b) #1#)")))
(show (let ((x '#0=(1 . #0#))) (eq? x (cdr x))))
;; procedures over several strings
(string-for-each (lambda (c d) (write c) (write d)) "abc" "xyz")
(newline)
(show (guard (e (#t (file-error? e))) (open-input-file "/nonexistent/file")))
(define c (list 1 2 3)) (set-cdr! (cddr c) c)
(show c)
(define v (vector 1 2)) (vector-set! v 1 v)
(show v)
(define sh (list 1)) (write-shared (list sh sh)) (newline)
(show (list c 5 c))
(show (list #\nul #\escape))
(show (list '|hello world| (string->symbol "Hello") '|| '|a\|b| (string->symbol "1")))
(show (force 5))
(show (string->number "1e400"))
(show (string->number "-1e400"))
(show (vector-map (lambda (a b) (+ a b)) #(1 2 3) #(10 20)))
(vector-for-each (lambda (a b) (display (* a b))) #(1 2) #(3 4))
(newline)
(show (equal? '#0=(1 . #0#) '#1=(1 1 . #1#)))
;; datum labels inside each other, and one for another
(define (show-read s) (show (guard (e (#t 'error)) (read (open-input-string s)))))
(show-read "#0=(a #1=(b #0# . #1#) #1#)")
(show-read "#0=#1=(#0# #1#)")
(show-read "#(#0=#(1 #0#) #0#)")
(show-read "(#0=5 #0#)")
(show-read "#0=#1=#0#")
(show-read "(#0# #0=1)")
;; handlers that a handler installs: Guile looks past them
(show (guard (e (#t (list 'outer e)))
        (with-exception-handler
         (lambda (e) (guard (f (#t 'inner)) (raise 'y)))
         (lambda () (raise-continuable 'x)))))
(show (guard (e (#t (list 'outer e)))
        (with-exception-handler
         (lambda (e) (with-exception-handler
                      (lambda (f) 5)
                      (lambda () (+ 1 (raise-continuable 'y)))))
         (lambda () (raise-continuable 'x)))))
