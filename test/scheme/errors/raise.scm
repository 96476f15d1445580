;; expect: uncaught: \(a "b"\)
(raise '(a "b"))
