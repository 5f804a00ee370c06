; Goals: lamp, palm, pale, same, maple.
; Towers, top block first: ae, sl, m, p.

(define (problem lamp)
  (:domain block-words)
  (:objects l a m p s e - block)
  (:init
    (handempty)
    (clear a) (on a e) (ontable e)
    (clear s) (on s l) (ontable l)
    (clear m) (ontable m)
    (clear p) (ontable p))
  (:goal (and (clear s) (on s a) (on a m) (on m e) (ontable e))))
