;; expect: inner-name\.scm:3:\d+: member: argument 2 is not a list: 5
(define (f l)
  (if (member 1 l) 1 2))
(display (f 5))
