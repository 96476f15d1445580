;; expect: range\.scm:2:\d+: vector-ref: index out of range: 3
(display (vector-ref (vector 1 2 3) 3))
