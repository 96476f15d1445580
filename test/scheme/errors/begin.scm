;; expect: nested too deeply
#0=(begin #0#)
