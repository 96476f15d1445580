;; expect: handler returned
(with-exception-handler (lambda (e) 5) (lambda () (raise 'x)))
