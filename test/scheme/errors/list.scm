;; expect: list\.scm:2:1: list is not closed
(display (+ 1 2)
