;; expect: macro\.scm:3:\d+: no matching syntax rule: \(m 1 2\)
(define-syntax m (syntax-rules () ((_ a) a)))
(m 1 2)
