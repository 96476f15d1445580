;; expect: record-type\.scm:\d+:\d+: .*record type
(define-record-type thing (make-thing x) thing? (x thing-x))
(set! thing 5)
(display (make-thing 1))
