; Goals: train, rain, stain, star, tins.
; Towers, top block first: nai, r, t, s.

(define (problem train)
  (:domain block-words)
  (:objects t r a i n s - block)
  (:init
    (handempty)
    (clear n) (on n a) (on a i) (ontable i)
    (clear r) (ontable r)
    (clear t) (ontable t)
    (clear s) (ontable s))
  (:goal (and (clear s) (on s t) (on t a) (on a r) (ontable r))))
