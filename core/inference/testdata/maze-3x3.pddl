; G.H
; .#.
; ...   start at the bottom left
(define (problem maze33) (:domain maze)
  (:objects north south east west - direction left right - gem)
  (:init (= (xpos) 1) (= (ypos) 1) (= (width) 3) (= (height) 3)
    (= (dx north) 0) (= (dy north) 1) (= (dx south) 0) (= (dy south) -1)
    (= (dx east) 1) (= (dy east) 0) (= (dx west) -1) (= (dy west) 0)
    (wall 2 2) (at left 1 3) (at right 3 3)))
