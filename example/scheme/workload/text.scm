;;; Testudo: text and bytes built and taken apart.
;;; SPDX-License-Identifier: BSD-2-Clause
;;; usage: text.scm [lines]

(import (scheme base) (scheme write) (scheme process-context))

(define (argument i default)
  (let ((args (command-line)))
    (if (> (length args) i)
        (string->number (list-ref args i))
        default)))

(define words
  '#("shield" "wall" "page" "barrier" "heap" "leaf" "λέξη" "tree" "run"))

(define (make-line i)
  (let loop ((k 0) (line ""))
    (if (= k 8)
        line
        (loop (+ k 1)
              (string-append line
                             (if (= k 0) "" " ")
                             (vector-ref words
                                         (remainder (+ (* i 7) (* k k))
                                                    (vector-length words))))))))

(define (split line)
  (let loop ((i 0) (start 0) (parts '()))
    (cond ((= i (string-length line))
           (reverse (cons (substring line start i) parts)))
          ((char=? (string-ref line i) #\space)
           (loop (+ i 1) (+ i 1) (cons (substring line start i) parts)))
          (else (loop (+ i 1) start parts)))))

(define (join parts)
  (let ((port (open-output-string)))
    (for-each (lambda (p) (write-string p port) (write-char #\- port)) parts)
    (get-output-string port)))

(define (byte-sum bytes)
  (do ((i 0 (+ i 1))
       (sum 0 (remainder (+ (* 31 sum) (bytevector-u8-ref bytes i)) 65521)))
      ((= i (bytevector-length bytes)) sum)))

;; A text of all lines stays alive and grows.
(define (main lines)
  (let loop ((i 0) (text (bytevector)) (sum 0))
    (if (< i lines)
        (let* ((line (make-line i))
               (joined (join (map string-copy (split line))))
               (bytes (string->utf8 joined)))
          (loop (+ i 1)
                (if (= 0 (remainder i 10)) (bytevector-append text bytes) text)
                (remainder (+ sum (byte-sum bytes)) 1000000007)))
        (begin
          (display "bytes kept: ")
          (display (bytevector-length text))
          (display ", sum: ")
          (display sum)
          (display ", characters: ")
          (display (string-length (utf8->string text)))
          (newline)))))

(main (argument 1 10000))
