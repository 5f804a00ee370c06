; Goals: train, rain, stain, star, tins.
; Towers, top block first: rn, ia, t, s.

(define (problem train)
  (:domain block-words)
  (:objects t r a i n s - block)
  (:init
    (handempty)
    (clear r) (on r n) (ontable n)
    (clear i) (on i a) (ontable a)
    (clear t) (ontable t)
    (clear s) (ontable s))
  (:goal (and (clear t) (on t i) (on i n) (on n s) (ontable s))))
