;; expect: string\.scm:3:10: string is not closed
(display "ok")
(display "never closed)
