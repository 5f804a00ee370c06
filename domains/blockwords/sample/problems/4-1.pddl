; Goals: lamp, palm, pale, same, maple.
; Towers, top block first: as, lp, m, e.

(define (problem lamp)
  (:domain block-words)
  (:objects l a m p s e - block)
  (:init
    (handempty)
    (clear a) (on a s) (ontable s)
    (clear l) (on l p) (ontable p)
    (clear m) (ontable m)
    (clear e) (ontable e))
  (:goal (and (clear p) (on p a) (on a l) (on l m) (ontable m))))
