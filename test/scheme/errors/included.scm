;; expect: inner/wrong\.inc:2:\d+: bad let
(include "../inner/wrong.inc")
