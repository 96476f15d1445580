;; expect: begin-circular\.scm:\d+:\d+: bad syntax
(display 1)
(begin . #0=(1 . #0#))
