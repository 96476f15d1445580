;; expect: exit: too many arguments: \(4\)
(exit 3 4)
