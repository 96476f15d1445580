;; expect: ^\S*handler-error\.scm:3:9: car: handler returned from non-continuable raise: #<error "argument 1 is not a pair" 5>$
(define (f)
  (list (car 5)))
(list
 (with-exception-handler
  (lambda (e) 1)
  f))
