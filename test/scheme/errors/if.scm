;; expect: if\.scm:2:\d+: bad syntax: \(if\)
(if)
