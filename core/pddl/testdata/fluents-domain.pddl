; Numbers as arguments of predicates, in conditions and in effects.
(define (domain snail)
  (:requirements :fluents :typing :negative-preconditions :disjunctive-preconditions :derived-predicates)
  (:types side leaf)
  (:constants left right - side)
  (:predicates (slime ?x ?y) (stone ?x ?y) (blocked ?x ?y) (lies ?l - leaf ?x ?y) (eaten ?l - leaf))
  (:functions (xpos) (ypos) (dx ?s - side) (width))
  (:derived (blocked ?x ?y) (or (stone ?x ?y) (< ?x 1) (> ?x width) (slime ?x ?y)))
  (:action crawl
    :parameters (?s - side)
    :precondition (not (blocked (+ xpos (dx ?s)) ypos))
    :effect (and (slime xpos ypos) (increase xpos (dx ?s))))
  (:action climb
    :precondition (and (< (ypos) 3) (not (blocked xpos (+ ypos 1))))
    :effect (and (slime xpos ypos) (increase (ypos) 1)))
  (:action eat
    :parameters (?l - leaf)
    :precondition (lies ?l xpos ypos)
    :effect (and (not (lies ?l xpos ypos)) (eaten ?l)))
  (:action drop
    :parameters (?l - leaf)
    :precondition (eaten ?l)
    :effect (and (not (eaten ?l)) (lies ?l xpos (- ypos 1)))))
