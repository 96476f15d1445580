;; expect: ^\S*raise-inner\.scm:3:9: uncaught: x$
(define (f)
  (list (raise 'x)))
(list (f))
