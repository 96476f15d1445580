;; expect: record\.scm:3:\d+: point-x: argument 1 is not a record of type point: 5|point-x: argument 1
(define-record-type point (make-point x) point? (x point-x))
(point-x 5)
