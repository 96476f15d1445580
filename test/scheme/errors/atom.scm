;; expect: ^\S*atom\.scm:4:3: unbound variable: nowhere$
(define here 1)
here
  nowhere
