;; expect: circular\.scm:4:\d+: length: argument 1 is not a list: #0=\(1 \. #0#\)
(define c (list 1))
(set-cdr! c c)
(display (length c))
