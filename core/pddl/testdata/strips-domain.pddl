; A lamp and its plug. Without (:requirements), :strips is meant.
(define (domain lamp)
  (:predicates (plugged) (lit) (dark))
  (:action plug :effect (plugged))
  (:action unplug :precondition (plugged) :effect (and (not (plugged)) (not (lit)) (dark)))
  (:action switch-on :precondition (and (plugged) (dark)) :effect (and (lit) (not (dark)))))
