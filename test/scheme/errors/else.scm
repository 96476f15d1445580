;; expect: else\.scm:3:\d+: clause after else
(define (f x)
  (cond (else x)
        ((odd? x) 1)))
