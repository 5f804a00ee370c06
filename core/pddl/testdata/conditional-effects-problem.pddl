(define (problem three) (:domain lamps) (:requirements :negative-preconditions)
  (:objects l1 l2 l3 - lamp)
  (:init (lit l1) (pair l1 l2) (pair l2 l3))
  (:goal (and (lit l3) (not (lit l1)))))
