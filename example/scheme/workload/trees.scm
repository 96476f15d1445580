;;; Testudo: binary trees, long-lived and short-lived.
;;; SPDX-License-Identifier: BSD-2-Clause
;;; usage: trees.scm [depth]
;;; Builds trees top-down (into nodes that exist) and bottom-up, while a
;;; large tree and a large vector of flonums stay alive.

(import (scheme base) (scheme write) (scheme process-context))

(define (argument i default)
  (let ((args (command-line)))
    (if (> (length args) i)
        (string->number (list-ref args i))
        default)))

(define-record-type node
  (make-node left right)
  node?
  (left node-left set-node-left!)
  (right node-right set-node-right!))

(define (tree-size depth) (- (expt 2 (+ depth 1)) 1))

(define (populate! depth tree)
  (if (> depth 0)
      (begin
        (set-node-left! tree (make-node #f #f))
        (set-node-right! tree (make-node #f #f))
        (populate! (- depth 1) (node-left tree))
        (populate! (- depth 1) (node-right tree)))))

(define (make-tree depth)
  (if (= depth 0)
      (make-node #f #f)
      (make-node (make-tree (- depth 1)) (make-tree (- depth 1)))))

(define (count-nodes tree)
  (if tree
      (+ 1 (count-nodes (node-left tree)) (count-nodes (node-right tree)))
      0))

(define (iterations depth longest)
  (quotient (* 2 (tree-size longest)) (tree-size depth)))

(define (construct depth longest)
  (let ((n (iterations depth longest)))
    (let down ((i 0) (total 0))
      (if (< i n)
          (let ((tree (make-node #f #f)))
            (populate! depth tree)
            (down (+ i 1) (if (= i (- n 1)) (count-nodes tree) total)))
          (let up ((i 0) (last #f))
            (if (< i n)
                (up (+ i 1) (make-tree depth))
                (begin
                  (display "depth ")
                  (display depth)
                  (display ": ")
                  (display n)
                  (display " trees each way, ")
                  (display (+ total (count-nodes last)))
                  (newline))))))))

(define (fill-vector! v)
  (let loop ((i 0))
    (if (< i (vector-length v))
        (begin (vector-set! v i (/ 1.0 (+ i 1)))
               (loop (+ i 1))))))

(define (main longest)
  (let ((long-lived (make-node #f #f))
        (numbers (make-vector (tree-size longest) 0.0)))
    (populate! longest long-lived)
    (fill-vector! numbers)
    (let loop ((depth 4))
      (if (<= depth longest)
          (begin (construct depth longest)
                 (loop (+ depth 2)))))
    (display "long-lived: ")
    (display (count-nodes long-lived))
    (display " ")
    (display (vector-ref numbers 3))
    (newline)))

(main (argument 1 16))
