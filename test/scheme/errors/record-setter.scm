;; expect: record-setter\.scm:7:\d+: set-point-x!: argument 1 is not a record of type point: 5|set-point-x!: argument 1
(define (outer)
  (define-record-type point (make-point x) point?
    (x point-x set-point-x!))
  (define (twice p)
    (set-point-x! p 1)
    (set-point-x! 5 2)
    p)
  (twice (make-point 0)))
(outer)
