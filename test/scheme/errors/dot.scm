;; expect: ^\S*dot\.scm:3:2: unexpected \.$
(display 1)
 . 5
