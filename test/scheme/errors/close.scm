;; expect: close\.scm:3:2: unexpected \)
(display 1)
)
