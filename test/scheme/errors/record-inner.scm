;; expect: record-inner\.scm:6:\d+: point-x: argument 1 is not a record of type point: \(5\)|point-x: argument 1
(define (outer)
  (define-record-type point (make-point x) point?
    (x point-x set-point-x!))
  (define (sum p)
    (+ (point-x p) 1))
  (+ 1 (sum (list 5))))
(outer)
