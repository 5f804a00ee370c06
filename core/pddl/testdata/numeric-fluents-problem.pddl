(define (problem four) (:domain jugs)
  (:objects big small - jug)
  (:init (= (size big) 5) (= (size small) 3) (= (level big) 0) (= (level small) 0) (= poured 0))
  (:goal (= (level big) 4)))
