;; expect: arity\.scm:3:\d+: wrong number of arguments \(1\): #<procedure f>
(define (f x y) x)
(f 1)
