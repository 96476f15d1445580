;; expect: unbound\.scm:3:\d+: unbound variable: no-such-thing
(display "before")
(display (no-such-thing 1))
