(define (problem two) (:domain toggle) (:objects left right) (:init (on left) (not (on right)))
  (:goal (and (on right) (not (on left)))))
