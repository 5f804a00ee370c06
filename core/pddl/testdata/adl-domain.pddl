; The briefcase: everything that :adl stands for.
(define (domain briefcase)
  (:requirements :adl)
  (:types location item)
  (:constants home - location)
  (:predicates (at ?i - item ?l - location) (in ?i - item) (is-at ?l - location) (checked ?i - item))
  (:action move
    :parameters (?from ?to - location)
    :precondition (and (is-at ?from) (not (= ?from ?to)) (or (= ?to home) (exists (?i - item) (in ?i))))
    :effect (and (is-at ?to) (not (is-at ?from))
                 (forall (?i - item) (when (in ?i) (and (at ?i ?to) (not (at ?i ?from)))))))
  (:action put-in
    :parameters (?i - item ?l - location)
    :precondition (and (at ?i ?l) (is-at ?l) (not (in ?i)))
    :effect (in ?i))
  (:action take-out
    :parameters (?i - item)
    :precondition (and (in ?i) (forall (?j - item) (imply (checked ?j) (= ?i ?j))))
    :effect (not (in ?i))))
