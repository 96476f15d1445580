;; expect: record-field\.scm:6:\d+: second: argument 1 is not a record of type one
(define-record-type one (make-one x y) one? (x first) (y second))
(define-record-type two (make-two) two?)
(set! one two)
(display (second (make-one 1 2)))
(display (second (make-two)))
