; Goals: train, rain, stain, star, tins.
; Towers, top block first: tr, is, a, n.

(define (problem train)
  (:domain block-words)
  (:objects t r a i n s - block)
  (:init
    (handempty)
    (clear t) (on t r) (ontable r)
    (clear i) (on i s) (ontable s)
    (clear a) (ontable a)
    (clear n) (ontable n))
  (:goal (and (clear t) (on t i) (on i n) (on n s) (ontable s))))
