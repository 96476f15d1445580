;; expect: syntax\.scm:3:\d+: bad let
(define (f)
  (let x))
