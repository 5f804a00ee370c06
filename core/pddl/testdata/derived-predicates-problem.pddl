(define (problem ring) (:domain circuit)
  (:objects a b c d - node)
  (:init (source a) (wire a b) (wire b c) (wire c b) (closed b c) (closed c b))
  (:goal (and (live c) (dead d))))
