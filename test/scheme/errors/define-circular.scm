;; expect: define-circular\.scm:\d+:\d+: identifier expected
(display 1)
(define #0=(#0# x) 1)
