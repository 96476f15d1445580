;; expect: variable used before its definition: b
(define (f)
  (define a (lambda () b))
  (define c (a))
  (define b 1)
  c)
(f)
