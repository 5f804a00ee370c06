; Goals: lamp, palm, pale, same, maple.
; Towers, top block first: ml, pe, a, s.

(define (problem lamp)
  (:domain block-words)
  (:objects l a m p s e - block)
  (:init
    (handempty)
    (clear m) (on m l) (ontable l)
    (clear p) (on p e) (ontable e)
    (clear a) (ontable a)
    (clear s) (ontable s))
  (:goal (and (clear p) (on p a) (on a l) (on l m) (ontable m))))
