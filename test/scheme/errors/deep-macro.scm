;; expect: ^\S*deep-macro\.scm:4:12: nested too deeply$
(define-syntax m (syntax-rules () ((_ x) (list (m x)))))
(define (f)
  (display (m 1)))
