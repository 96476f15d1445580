(export declared)
(include-library-declarations "more.sld")
(include "deeper.inc")
(begin (define declared (list deeper 'declared)))
