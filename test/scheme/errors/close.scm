;; expect: close\.scm:3:1: unexpected \)
(display 1)
)
