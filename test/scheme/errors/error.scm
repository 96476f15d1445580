;; expect: error\.scm:2:\d+: something: 1 "two"|something: 1 "two"
(error "something" 1 "two")
