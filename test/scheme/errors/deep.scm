;; expect: nested too deeply
(define (nest n x) (if (= n 0) x (nest (- n 1) (list x))))
(eval (nest 1000000 1))
