;; expect: ^\S*unquote\.scm:4:5: bad unquote: \(unquote-splicing \(list 1 2\) \(list 3\)\)$
(define (f)
  `(0
    (unquote-splicing (list 1 2) (list 3))
    4))
(f)
