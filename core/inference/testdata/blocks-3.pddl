(define (problem three) (:domain blocks)
  (:objects a b c - block)
  (:init (ontable a) (ontable b) (on c b) (clear a) (clear c) (handempty)))
