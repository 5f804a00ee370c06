(define (problem three) (:domain lift) (:objects a b c - person) (:init (inside b)) (:goal (closed)))
