;;; Testudo: what is said of an error: where it is, in what, and why.
;;; SPDX-License-Identifier: BSD-2-Clause
;;; condition/report-string is not in the standard, and so not in Guile.
(import (scheme base) (scheme write) (scheme read) (scheme load) (scheme file))
(define (without-folders s)
  (let loop ((i 0) (start 0))
    (cond ((or (= i (string-length s)) (char=? (string-ref s i) #\:))
           (string-copy s start))
          ((char=? (string-ref s i) #\/) (loop (+ i 1) (+ i 1)))
          (else (loop (+ i 1) start)))))
(define (report thunk)
  (display (without-folders (guard (e (#t (condition/report-string e))) (thunk)))))
;; procedures in Scheme, of which a part is in C
(report (lambda () (parameterize ((5 1)) 1)))
(report (lambda () (load 5)))
(report (lambda () (hash-table-copy 5)))
;; procedures for any number of arguments, with names
(report (lambda () (list (map car))))
(define f (case-lambda ((x) 1) ((x y) 2)))
(report (lambda () (list (f))))
;; the error that a handler could not help, not the call of the handler
(define (wrong)
  (list
   (vector-ref 5 0)))
(report (lambda () (list (with-exception-handler (lambda (e) 1) wrong))))
(report (lambda ()
          (list (with-exception-handler
                 (lambda (e) 1)
                 (lambda ()
                   (list
                    (error "wrong:" 5)))))))
(report (lambda ()
          (list (with-exception-handler
                 (lambda (e) 1)
                 (lambda ()
                   (list
                    (raise 'wrong)))))))
;; unquotations
(define-syntax report-form
  (syntax-rules ()
    ((_ text) (let ((port (open-input-string text)))
                (report (lambda () (eval (read port) (interaction-environment))))))))
(report-form "`(1\n (unquote-splicing (list 1) (list 2)))")
(report-form "`(1\n  #((unquote 1 2)))")
(report-form "`(unquote)")
(report-form "`(1 `(2 ,(3 (unquote-splicing))))")
;; a line of a higher number than code has room for
(call-with-output-file "long.scm"
  (lambda (port)
    (write-string (make-string 1048580 #\newline) port)
    (write-string "(define (on-high-line x) (list (car x)))" port)))
(load "long.scm")
(report (lambda () (list (on-high-line 5))))
