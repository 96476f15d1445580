;; expect: load: cannot open file|open-input-file: cannot open file: "/nonexistent"
(open-input-file "/nonexistent")
