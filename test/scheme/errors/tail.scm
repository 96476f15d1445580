;; expect: ^\S*tail\.scm:5:7: bad thing: 4 "x"$
(define (f x)
  (if (< x 4)
      (f (+ x 1))
      (error "bad thing:" x "x")))
(define (g) (f 1))
(g)
