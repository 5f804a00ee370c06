(define (problem party) (:domain pairs)
  (:objects ann bob cem)
  (:init (alone ann) (alone bob))
  (:goal (and (met ann cem) (met bob ann))))
