;; expect: macro-in-body\.scm:5:3: .*my-none
(define-syntax my-none (syntax-rules () ((_) 1)))
(define (f x)
  (display x)
  (my-none 1)
  x)
(f 1)
