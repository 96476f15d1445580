;; expect: bytes\.scm:2:\d+: bad dotted list
(display '#u8(1 . 2))
