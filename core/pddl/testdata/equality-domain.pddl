(define (domain pairs)
  (:requirements :strips :equality :negative-preconditions)
  (:predicates (met ?a ?b) (alone ?a))
  (:action meet
    :parameters (?a ?b)
    :precondition (and (alone ?a) (not (= ?a ?b)))
    :effect (and (met ?a ?b) (not (alone ?a)))))
