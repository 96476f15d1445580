;; expect: record-type\.scm:\d+:\d+: .*record type
(define (make)
  (define-record-type thing (make-thing x) thing? (x thing-x))
  (set! thing 5)
  (make-thing 1))
(make)
