; Two jugs: every kind of assignment, every comparison.
(define (domain jugs)
  (:requirements :strips :typing :equality :negative-preconditions :numeric-fluents)
  (:types jug)
  (:predicates (spilt))
  (:functions (size ?j - jug) (level ?j - jug) - number (poured))
  (:action fill :parameters (?j - jug) :precondition (< (level ?j) (size ?j)) :effect (assign (level ?j) (size ?j)))
  (:action empty :parameters (?j - jug) :precondition (>= (level ?j) 1) :effect (assign (level ?j) 0))
  (:action pour-all
    :parameters (?from ?to - jug)
    :precondition (and (not (= ?from ?to)) (> (level ?from) 0) (<= (+ (level ?from) (level ?to)) (size ?to)))
    :effect (and (increase (level ?to) (level ?from)) (assign (level ?from) 0) (increase poured 1)))
  (:action pour-some
    :parameters (?from ?to - jug)
    :precondition (and (not (= ?from ?to)) (< (level ?to) (size ?to)) (> (level ?from) (- (size ?to) (level ?to))))
    :effect (and (decrease (level ?from) (- (size ?to) (level ?to))) (assign (level ?to) (size ?to)) (increase poured 1)))
  (:action halve :parameters (?j - jug) :precondition (= (level ?j) (size ?j)) :effect (scale-down (level ?j) 2))
  (:action double
    :parameters (?j - jug)
    :precondition (and (> (level ?j) 0) (<= (* 2 (level ?j)) (size ?j)))
    :effect (scale-up (level ?j) (/ (- (- 4)) 2))))
