; The courtyard.
; 7 . . k . . # # #
; 6 . . . . . + . g
; 5 . . . . . # # #
; 4 . . s . . # # #
; 3 . . . . . + . g
; 2 . . . . . # # #
; 1 g . . . . k . .
;   1 2 3 4 5 6 7 8
; # wall, + locked door, k key, g gem, s the agent

(define (problem courtyard)
  (:domain doors-keys-gems)
  (:objects
    up down left right - direction
    key1 key2 - key
    gem1 gem2 gem3 - gem)
  (:init
    (= (xdiff up) 0) (= (ydiff up) 1)
    (= (xdiff down) 0) (= (ydiff down) -1)
    (= (xdiff left) -1) (= (ydiff left) 0)
    (= (xdiff right) 1) (= (ydiff right) 0)
    (= (width) 8) (= (height) 7)
    (= (xpos) 3) (= (ypos) 4)
    (wall 6 7) (wall 7 7) (wall 8 7)
    (wall 6 5) (wall 7 5) (wall 8 5)
    (wall 6 4) (wall 7 4) (wall 8 4)
    (wall 6 2) (wall 7 2) (wall 8 2)
    (door 6 6)
    (door 6 3)
    (at key1 3 7)
    (at key2 6 1)
    (at gem1 8 6)
    (at gem2 8 3)
    (at gem3 1 1))
  (:goal (has gem1)))
