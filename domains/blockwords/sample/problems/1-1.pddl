; Goals: train, rain, stain, star, tins.
; Towers, top block first: at, sn, r, i.

(define (problem train)
  (:domain block-words)
  (:objects t r a i n s - block)
  (:init
    (handempty)
    (clear a) (on a t) (ontable t)
    (clear s) (on s n) (ontable n)
    (clear r) (ontable r)
    (clear i) (ontable i))
  (:goal (and (clear s) (on s t) (on t a) (on a i) (on i n) (ontable n))))
