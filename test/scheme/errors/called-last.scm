;; expect: called-last\.scm:5:1: vector-length: argument 1 is not a vector: 5
(define (f v)
  (vector-map car v))
(define (g) (f 5))
(g)
