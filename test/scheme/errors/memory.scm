;; expect: out of memory|too large
(make-vector 1000000000000 0)
