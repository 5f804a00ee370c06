; The conditions are those of the old state: pressing swaps the two lamps of a pair.
(define (domain lamps)
  (:requirements :strips :typing :conditional-effects)
  (:types lamp)
  (:predicates (lit ?l - lamp) (pair ?a ?b - lamp) (fused))
  (:action swap
    :parameters (?a ?b - lamp)
    :precondition (pair ?a ?b)
    :effect (and (when (lit ?a) (and (not (lit ?a)) (lit ?b)))
                 (when (lit ?b) (and (not (lit ?b)) (lit ?a)))))
  (:action blow
    :effect (and (fused) (forall (?l - lamp) (when (lit ?l) (not (lit ?l)))))))
