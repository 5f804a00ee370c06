(define (domain door)
  (:requirements :strips :disjunctive-preconditions)
  (:predicates (key) (code) (open) (alarm) (quiet))
  (:action learn :effect (code))
  (:action hush :precondition (code) :effect (quiet))
  (:action enter
    :precondition (and (or (key) (code)) (imply (alarm) (quiet)))
    :effect (open)))
