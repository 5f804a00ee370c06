(define (domain rescue)
  (:requirements :strips :typing :existential-preconditions)
  (:types person room)
  (:predicates (in ?p - person ?r - room) (guide ?p - person) (safe ?r - room))
  (:action go
    :parameters (?p - person ?from ?to - room)
    :precondition (in ?p ?from)
    :effect (and (not (in ?p ?from)) (in ?p ?to)))
  (:action secure
    :parameters (?r - room)
    :precondition (exists (?p - person) (and (in ?p ?r) (guide ?p)))
    :effect (safe ?r)))
