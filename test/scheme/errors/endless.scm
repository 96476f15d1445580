;; expect: endless\.scm:3:\d+: macro expansion does not end|macro expansion does not end: \(m
(define-syntax m (syntax-rules () ((_ a) (m a))))
(m 1)
