;;; Testudo: the part of the Scheme interpreter that is written in Scheme.
;;; SPDX-License-Identifier: BSD-2-Clause
;;; Names that begin with % are not for programs.

;; ---- lists

(define (%check-end l who)
  (if (not (null? l)) (error (string-append who ": not a list") l))
  '())

(define (%map1 f l)
  (if (pair? l)
      (let ((x (f (car l))))
        (cons x (%map1 f (cdr l))))
      (%check-end l "map")))

(define (%any-null? ls)
  (and (pair? ls)
       (or (not (pair? (car ls))) (%any-null? (cdr ls)))))

(define (%map2 f a b)
  (if (and (pair? a) (pair? b))
      (let ((x (f (car a) (car b))))
        (cons x (%map2 f (cdr a) (cdr b))))
      '()))

(define (%mapn f ls)
  (if (%any-null? ls)
      '()
      (let ((x (apply f (%map1 car ls))))
        (cons x (%mapn f (%map1 cdr ls))))))

;; Lists that are gone through together: each is a list or circular, and one
;; must end.
(define (%check-lists who ls)
  (let loop ((rest ls) (ends #f))
    (if (null? rest)
        (if (not ends) (%check-end (car ls) who))
        (let ((kind (%list-kind (car rest))))
          (if (eq? kind 'improper) (%check-end (car rest) who))
          (loop (cdr rest) (or ends (eq? kind 'list)))))))

(define map
  (case-lambda
    ((f l)
     (if (not (list? l)) (%check-end l "map"))
     (%map1 f l))
    ((f a b)
     (if (not (and (list? a) (list? b))) (%check-lists "map" (list a b)))
     (%map2 f a b))
    ((f l . ls)
     (let ((ls (cons l ls)))
       (%check-lists "map" ls)
       (%mapn f ls)))))

(define for-each
  (case-lambda
    ((f l)
     (if (not (list? l)) (%check-end l "for-each"))
     (let loop ((l l))
       (if (pair? l)
           (begin (f (car l)) (loop (cdr l)))
           (begin (%check-end l "for-each") (if #f #f)))))
    ((f l . ls)
     (%check-lists "for-each" (cons l ls))
     (let loop ((ls (cons l ls)))
       (if (not (%any-null? ls))
           (begin (apply f (%map1 car ls))
                  (loop (%map1 cdr ls))))))))

(define (append-map f l . ls) (apply append (apply map f l ls)))

(define (filter keep? l)
  (let loop ((l l) (r '()))
    (cond ((null? l) (reverse! r))
          ((keep? (car l)) (loop (cdr l) (cons (car l) r)))
          (else (loop (cdr l) r)))))

(define (remove drop? l) (filter (lambda (x) (not (drop? x))) l))

(define (partition in? l)
  (let loop ((l l) (a '()) (b '()))
    (cond ((null? l) (values (reverse! a) (reverse! b)))
          ((in? (car l)) (loop (cdr l) (cons (car l) a) b))
          (else (loop (cdr l) a (cons (car l) b))))))

(define (reduce f initial l)
  (if (null? l)
      initial
      (let loop ((acc (car l)) (l (cdr l)))
        (if (null? l) acc (loop (f (car l) acc) (cdr l))))))

(define fold
  (case-lambda
    ((f acc l)
     (if (pair? l) (fold f (f (car l) acc) (cdr l)) acc))
    ((f acc l . ls)
     (let ((ls (cons l ls)))
       (if (%any-null? ls)
           acc
           (apply fold f
                  (apply f (append (%map1 car ls) (list acc)))
                  (%map1 cdr ls)))))))

(define (fold-left f acc l . ls)
  (if (null? ls)
      (let loop ((acc acc) (l l))
        (if (pair? l) (loop (f acc (car l)) (cdr l)) acc))
      (let ((ls (cons l ls)))
        (if (%any-null? ls)
            acc
            (apply fold-left f (apply f acc (%map1 car ls))
                   (%map1 cdr ls))))))

(define (fold-right f acc l . ls)
  (if (null? ls)
      (let loop ((l l))
        (if (pair? l) (f (car l) (loop (cdr l))) acc))
      (let ((ls (cons l ls)))
        (if (%any-null? ls)
            acc
            (apply f (append (%map1 car ls)
                             (list (apply fold-right f acc
                                          (%map1 cdr ls)))))))))

(define (delete x l . same)
  (let ((same? (if (pair? same) (car same) equal?)))
    (filter (lambda (y) (not (same? x y))) l)))

(define (delete-duplicates l . same)
  (let ((same? (if (pair? same) (car same) equal?)))
    (let loop ((l l) (r '()))
      (cond ((null? l) (reverse! r))
            ((member (car l) r same?) (loop (cdr l) r))
            (else (loop (cdr l) (cons (car l) r)))))))

;; The first pair of the list l whose car fits. A second reference follows at
;; half the speed, so that the search in a circular list ends.
(define (%find-pair who ok? l)
  (let loop ((at l) (slow l) (move #f))
    (cond ((not (pair? at)) (%check-end at who) #f)
          ((ok? (car at)) at)
          (else
           (let ((at (cdr at)) (slow (if move (cdr slow) slow)))
             (if (eq? at slow) (%check-end l who))
             (loop at slow (not move)))))))

(define member
  (case-lambda
    ((x l) (%member x l))
    ((x l same?)
     (%find-pair "member" (lambda (y) (same? x y)) l))))

(define assoc
  (case-lambda
    ((x l) (%assoc x l))
    ((x l same?)
     (let ((at (%find-pair "assoc" (lambda (p) (same? x (car p))) l)))
       (and at (car at))))))

(define (find ok? l)
  (let ((at (%find-pair "find" ok? l)))
    (and at (car at))))

(define (find-tail ok? l)
  (%find-pair "find-tail" ok? l))

(define (list-index ok? l)
  (let loop ((l l) (i 0))
    (and (pair? l)
         (if (ok? (car l)) i (loop (cdr l) (+ i 1))))))

(define (any ok? l . ls)
  (let loop ((ls (cons l ls)))
    (and (not (%any-null? ls))
         (or (apply ok? (%map1 car ls))
             (loop (%map1 cdr ls))))))

(define (every ok? l . ls)
  (let loop ((ls (cons l ls)) (last #t))
    (if (%any-null? ls)
        last
        (let ((r (apply ok? (%map1 car ls))))
          (and r (loop (%map1 cdr ls) r))))))

(define (count ok? l)
  (let loop ((l l) (n 0))
    (if (pair? l) (loop (cdr l) (if (ok? (car l)) (+ n 1) n)) n)))

(define (first l) (car l))
(define (second l) (cadr l))
(define (third l) (caddr l))
(define (last l) (car (last-pair l)))
(define (list-tabulate n f)
  (let loop ((i (- n 1)) (r '()))
    (if (< i 0) r (loop (- i 1) (cons (f i) r)))))

;; ---- sorting: merges, stable

(define (%merge a b less?)
  (let loop ((a a) (b b) (r '()))
    (cond ((null? a) (append-reverse! r b))
          ((null? b) (append-reverse! r a))
          ((less? (car b) (car a)) (loop a (cdr b) (cons (car b) r)))
          (else (loop (cdr a) b (cons (car a) r))))))

(define (append-reverse! a b)
  (if (null? a)
      b
      (let ((next (cdr a)))
        (set-cdr! a b)
        (append-reverse! next a))))

(define (append-reverse a b)
  (if (null? a) b (append-reverse (cdr a) (cons (car a) b))))

(define (%sort-list l n less?)
  (if (= n 1)
      (list (car l))
      (let ((half (quotient n 2)))
        (%merge (%sort-list l half less?)
                (%sort-list (list-tail l half) (- n half) less?)
                less?))))

(define (sort s less?)
  (cond ((and (procedure? s) (not (procedure? less?))) (sort less? s))
        ((vector? s) (list->vector (sort (vector->list s) less?)))
        ((null? s) '())
        (else (%sort-list s (length s) less?))))

(define (sort! s less?)
  (if (vector? s)
      (let ((r (sort s less?)))
        (vector-copy! s 0 r)
        s)
      (sort s less?)))
(define list-sort sort)
(define stable-sort sort)

;; ---- vectors and strings

(define (%vectors-length vs)
  (apply min (%map1 vector-length vs)))

(define (vector-map f v . vs)
  (if (null? vs)
      (let* ((n (vector-length v)) (l (%map1 f (vector->list v))))
        (list->vector l))
      (list->vector
       (apply map f (vector->list v) (%map1 vector->list vs)))))

(define (vector-for-each f v . vs)
  (if (null? vs)
      (let ((n (vector-length v)))
        (let loop ((i 0))
          (if (< i n)
              (begin (f (vector-ref v i)) (loop (+ i 1))))))
      (apply for-each f (vector->list v) (%map1 vector->list vs))))

(define (string-map f s . ss)
  (list->string (apply map f (string->list s) (%map1 string->list ss))))

(define (string-for-each f s . ss)
  (if (null? ss)
      (let ((n (string-length s)))
        (let loop ((i 0))
          (if (< i n)
              (begin (f (string-ref s i)) (loop (+ i 1))))))
      (apply for-each f (string->list s) (%map1 string->list ss))))

(define (string-count s ok?)
  (let loop ((i 0) (n 0))
    (if (= i (string-length s))
        n
        (loop (+ i 1) (if (ok? (string-ref s i)) (+ n 1) n)))))

(define (string-join l . separator)
  (let ((separator (if (pair? separator) (car separator) " ")))
    (if (null? l)
        ""
        (apply string-append
               (car l)
               (append-map (lambda (s) (list separator s)) (cdr l))))))

(define (vector-grow v n)
  (let ((r (make-vector n)))
    (vector-copy! r 0 v)
    r))

(define (vector-binary-search v key compare)
  (let loop ((low 0) (high (- (vector-length v) 1)))
    (and (<= low high)
         (let* ((i (quotient (+ low high) 2))
                (c (compare (vector-ref v i) key)))
           (cond ((= c 0) (vector-ref v i))
                 ((< c 0) (loop (+ i 1) high))
                 (else (loop low (- i 1))))))))

;; ---- numbers

(define (1+ n) (+ n 1))
(define (-1+ n) (- n 1))
(define (1- n) (- n 1))
(define (square x) (* x x))
(define (cube x) (* x x x))
(define (exact-rational? x) (and (rational? x) (exact? x)))
(define (exact-nonnegative-integer? x)
  (and (exact-integer? x) (>= x 0)))
(define (floor/ a b) (values (floor-quotient a b) (floor-remainder a b)))
(define (truncate/ a b)
  (values (truncate-quotient a b) (truncate-remainder a b)))
(define (boolean=2? a b) (eq? a b))

(define (%simplest lo hi)
  (let ((fl (floor lo)))
    (cond ((= fl lo) fl)
          ((< fl (floor hi)) (+ fl 1))
          (else (+ fl (/ 1 (%simplest (/ 1 (- hi fl)) (/ 1 (- lo fl)))))))))

(define (rationalize x tolerance)
  (let ((t (abs tolerance)))
    (cond ((or (nan? x) (nan? t)) +nan.0)
          ((infinite? t) (if (infinite? x) +nan.0 0.0))
          ((infinite? x) x)
          ((not (and (exact? x) (exact? t)))
           (inexact (rationalize (exact x) (exact t))))
          (else
           (let ((lo (- x t)) (hi (+ x t)))
             (cond ((> lo 0) (%simplest lo hi))
                   ((< hi 0) (- (%simplest (- hi) (- lo))))
                   (else 0)))))))

;; ---- control

(define (call-with-values producer consumer)
  (%apply-values consumer (producer)))

;; A winder is (handlers before . after): both thunks run with the handlers
;; of the call of dynamic-wind.
(define (dynamic-wind before thunk after)
  (before)
  (%winders (cons (cons (%handlers) (cons before after)) (%winders)))
  (let ((r (thunk)))
    (%winders (cdr (%winders)))
    (after)
    r))

;; The innermost of a list of winders.
(define (%leave l)
  (%winders (cdr l))
  (%handlers (caar l))
  ((cddar l)))

;; From the current winders to those of a continuation: leave up to the
;; common part, then enter from there.
(define (%rewind to)
  (let ((from (%winders)))
    (let* ((nf (length from)) (nt (length to))
           (f (if (> nf nt) (list-tail from (- nf nt)) from))
           (t (if (> nt nf) (list-tail to (- nt nf)) to))
           (common (let loop ((f f) (t t))
                     (if (eq? f t) f (loop (cdr f) (cdr t))))))
      (let leave ((l from))
        (if (not (eq? l common))
            (begin (%leave l)
                   (leave (cdr l)))))
      (let enter ((l to))
        (if (not (eq? l common))
            (begin (enter (cdr l))
                   (%handlers (caar l))
                   ((cadar l))
                   (%winders l)))))))

(define (%rewind-and-throw k value)
  (%rewind (%continuation-winders k))
  (%throw k value))

(define (make-parameter value . converter)
  (if (null? converter)
      (%make-parameter value #f)
      (%make-parameter ((car converter) value) (car converter))))

(define (%convert p v)
  (let ((converter (%parameterize:converter p)))
    (if converter (converter v) v)))

(define (%parameterize bindings thunk)
  (let ((params (%map1 car bindings))
        (values (%map1 (lambda (b) (%convert (car b) (cdr b))) bindings)))
    ;; The way back is the other way round: a parameter may be there twice.
    (let ((swap (lambda ()
                  (let loop ((ps params) (vs values) (back '()) (olds '()))
                    (if (pair? ps)
                        (let ((old (%parameter-value (car ps))))
                          (%parameter-set! (car ps) (car vs))
                          (loop (cdr ps) (cdr vs)
                                (cons (car ps) back) (cons old olds)))
                        (begin (set! params back)
                               (set! values olds)))))))
      (dynamic-wind swap thunk swap))))

(define (make-promise v)
  (if (promise? v) v (%make-promise #t v)))

(define (force p)
  (if (promise? p)
      (let loop ()
        (let ((box (%promise-box p)))
          (if (car box)
              (cdr box)
              (let* ((p2 ((cdr box)))
                     (box (%promise-box p)))
                (if (not (car box))
                    (let ((box2 (%promise-box (make-promise p2))))
                      (set-car! box (car box2))
                      (set-cdr! box (cdr box2))
                      (if (promise? p2) (%promise-box p2 box))))
                (loop)))))
      p))
(define make-lazy make-promise)

(define (stream-pair? s) (and (pair? s) (promise? (cdr s))))
(define (stream-car s) (car s))
(define (stream-cdr s) (force (cdr s)))
(define the-empty-stream '())
(define stream-nil '())
(define (stream-null? s) (null? s))
(define (empty-stream? s) (null? s))

;; ---- exceptions

(define (with-exception-handler handler thunk)
  (if (not (procedure? handler))
      (error "with-exception-handler: not a procedure" handler))
  (let ((old (%handlers)))
    (%handlers (cons handler old))
    (let ((r (thunk)))
      (%handlers old)
      r)))

(define (raise-continuable c)
  (let ((handlers (%handlers)))
    (if (null? handlers)
        (%uncaught c)
        (begin
          (%handlers (cdr handlers))
          (let ((r ((car handlers) c)))
            (%handlers handlers)
            r)))))

(define (raise c)
  (let ((handlers (%handlers)))
    (if (null? handlers)
        (%uncaught c)
        (begin
          (%handlers (cdr handlers))
          ((car handlers) c)
          (raise (%make-error "handler returned from non-continuable raise"
                              (list c)))))))

(%set-hooks! raise %rewind-and-throw)

(define (assert ok . message)
  (if (not ok) (error "assertion failed")))

(define (%guard thunk handler)
  ((call/cc
    (lambda (guard-k)
      (with-exception-handler
       (lambda (c)
         ((call/cc
           (lambda (handler-k)
             (guard-k
              (lambda ()
                (handler c
                         (lambda ()
                           (handler-k
                            (lambda () (raise-continuable c)))))))))))
       (lambda ()
         (let ((r (thunk)))
           (guard-k (lambda () r)))))))))

(define (error-message c) (error-object-message c))
(define (error-irritants c) (error-object-irritants c))
(define (condition/report-string c)
  (call-with-output-string (lambda (port) (%report c port))))

(define (exit . code)
  (if (and (pair? code) (pair? (cdr code)))
      (error "exit: too many arguments" (cdr code)))
  (%rewind '())
  (apply %exit code))

;; ---- ports

(define (call-with-port port f)
  (let ((r (f port)))
    (close-port port)
    r))

(define (call-with-input-file name f)
  (call-with-port (open-input-file name) f))
(define (call-with-output-file name f)
  (call-with-port (open-output-file name) f))

(define (with-input-from-file name thunk)
  (let* ((port (open-input-file name))
         (r (%parameterize (list (cons current-input-port port)) thunk)))
    (close-port port)
    r))

(define (with-output-to-file name thunk)
  (let* ((port (open-output-file name))
         (r (%parameterize (list (cons current-output-port port)) thunk)))
    (close-port port)
    r))

(define (call-with-output-string f)
  (let ((port (open-output-string)))
    (f port)
    (get-output-string port)))

(define (with-output-to-string thunk)
  (let ((port (open-output-string)))
    (%parameterize (list (cons current-output-port port)) thunk)
    (get-output-string port)))

(define (with-input-from-string s thunk)
  (%parameterize (list (cons current-input-port (open-input-string s)))
                 thunk))

(define (write-line x . port)
  (apply write x port)
  (apply newline port))

;; ---- hash tables

(define (make-hash-table . options)
  (%make-hash-table (cond ((memq eq? options) 0)
                          ((memq eqv? options) 1)
                          ((memq = options) 1)
                          ((memq string=? options) 3)
                          (else 2))
                    0))
(define (make-equal-hash-table . size) (%make-hash-table 2 0))
(define (make-string-hash-table . size) (%make-hash-table 3 0))
(define (make-eq-hash-table . size) (%make-hash-table 0 0))
(define (make-eqv-hash-table . size) (%make-hash-table 1 0))
(define make-strong-eqv-hash-table make-eqv-hash-table)
(define make-strong-eq-hash-table make-eq-hash-table)
(define (make-weak-key-hash-table . size) (%make-hash-table 0 1))
(define (make-weak-value-hash-table . size) (%make-hash-table 0 2))
(define (make-ephemeron-hash-table . size) (%make-hash-table 0 3))
(define make-key-weak-eq-hash-table make-weak-key-hash-table)
(define make-key-weak-eqv-hash-table make-weak-key-hash-table)
(define (make-eq-hashtable . size) (%make-hash-table 0 0))
(define (make-eqv-hashtable . size) (%make-hash-table 1 0))
(define (make-hashtable hash same . size) (%make-hash-table 2 0))
(define hashtable-set! hash-table-set!)
(define hashtable-ref hash-table-ref/default)
(define hashtable-delete! hash-table-delete!)
(define hashtable-contains? hash-table-contains?)
(define hashtable-size hash-table-count)
(define hashtable-clear! hash-table-clear!)
(define hashtable? hash-table?)

(define %missing (list 'missing))

(define (hash-table-ref table key . thunks)
  (let ((v (hash-table-ref/default table key %missing)))
    (cond ((not (eq? v %missing))
           (if (and (pair? thunks) (pair? (cdr thunks)))
               ((cadr thunks) v)
               v))
          ((and (pair? thunks) (car thunks)) ((car thunks)))
          (else (error "hash-table-ref: no such key" key)))))

(define (hash-table-update! table key f . default)
  (hash-table-set! table key (f (apply hash-table-ref table key default))))

(define (hash-table-update!/default table key f default)
  (hash-table-set! table key (f (hash-table-ref/default table key default))))
(define hashtable-update! hash-table-update!/default)

(define (hash-table-keys table) (%map1 car (hash-table->alist table)))
(define (hash-table-values table) (%map1 cdr (hash-table->alist table)))
(define hash-table/get hash-table-ref/default)
(define hash-table/put! hash-table-set!)
(define hash-table-datum-list hash-table-values)
(define hash-table-key-list hash-table-keys)
(define (hashtable-keys table) (list->vector (hash-table-keys table)))
(define (hash-table-walk table f)
  (for-each (lambda (p) (f (car p) (cdr p))) (hash-table->alist table)))
(define (hash-table-fold table f acc)
  (if (procedure? table)
      (hash-table-fold acc table f)
      (fold (lambda (p acc) (f (car p) (cdr p) acc))
            acc
            (hash-table->alist table))))
(define (hash-table-copy table . mutable)
  (let ((copy (%hash-table-copy:empty table)))
    (hash-table-walk table (lambda (k v) (hash-table-set! copy k v)))
    copy))
(define (hash-table-empty? table) (= 0 (hash-table-count table)))
(define (hash-for-each f table) (hash-table-walk table f))
(define (hash-map->list f table)
  (%map1 (lambda (p) (f (car p) (cdr p))) (hash-table->alist table)))
(define (hash-fold f acc table) (hash-table-fold table f acc))
(define (alist->hash-table alist . rest)
  (let ((table (make-equal-hash-table)))
    (for-each (lambda (p)
                (if (not (hash-table-contains? table (car p)))
                    (hash-table-set! table (car p) (cdr p))))
              alist)
    table))

;; ---- association lists

(define (del-assq key alist)
  (remove (lambda (p) (eq? (car p) key)) alist))
(define (del-assv key alist)
  (remove (lambda (p) (eqv? (car p) key)) alist))
(define (alist-copy alist)
  (%map1 (lambda (p) (if (pair? p) (cons (car p) (cdr p)) p)) alist))

;; ---- programs

;; Names of libraries, and what they export: see library.c.
(define %libraries
  (%map1 (lambda (name) (cons (list 'scheme name) #f))
         '(base case-lambda char cxr eval file inexact lazy load
           process-context read repl time write)))

;; Names that import and export have made, and what they are other names of.
(define %aliases (make-eq-hash-table))

(define (eval form . environment) ((%compile form)))

;; A continuation that is captured in a form goes on with the forms after it
;; even if they have been read already: `at` is the last pair of a list that
;; grows as the port is read, and whose end is #f. The value of the last form
;; is that of all.
(define (%load-port port name)
  (let loop ((at (list #f)) (r (if #f #f)))
    (if (null? (cdr at))
        (let ((form (read port)))
          (set-cdr! at (and (not (eof-object? form))
                            (list (cons form (%read-place)))))))
    (let ((next (cdr at)))
      (if next
          (loop next ((%compile (caar next) name (cdar next))))
          r))))

(define (%read-all port)
  (let ((text (open-output-string)))
    (let loop ()
      (let ((part (read-string 4096 port)))
        (if (eof-object? part)
            (get-output-string text)
            (begin (write-string part text)
                   (loop)))))))

;; What is no file, but a pipe, can be read only once.
(define (load name . environment)
  (let* ((again (%load:note-file name))
         (port (open-input-file name))
         (text (and (not again) (%read-all port))))
    (if again
        (%load-port port name)
        (begin
          (%note-port (open-input-string text))
          (%load-port (open-input-string text) name)))
    (close-port port)))

(define (%eval-string s) (%load-port (open-input-string s) "-e"))

(define (runtime-real) (/ (current-jiffy) 1e9))
(define real-time (lambda () (/ (current-jiffy) 1e6)))
