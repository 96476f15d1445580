;; expect: procedure\.scm:2:\d+: not a procedure: 5
(5 6)
