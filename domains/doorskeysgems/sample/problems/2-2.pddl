; Crossroads.
; 7 g + . . k . . + g
; 6 # # # . . . # # #
; 5 . . k . . # # # #
; 4 . # # # . # # # #
; 3 . # # # . + + . g
; 2 . # # # . # # # #
; 1 . . . s . # # # #
;   1 2 3 4 5 6 7 8 9
; # wall, + locked door, k key, g gem, s the agent

(define (problem crossroads)
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
    (= (width) 9) (= (height) 7)
    (= (xpos) 4) (= (ypos) 1)
    (wall 1 6) (wall 2 6) (wall 3 6) (wall 7 6) (wall 8 6) (wall 9 6)
    (wall 6 5) (wall 7 5) (wall 8 5) (wall 9 5)
    (wall 2 4) (wall 3 4) (wall 4 4) (wall 6 4) (wall 7 4) (wall 8 4) (wall 9 4)
    (wall 2 3) (wall 3 3) (wall 4 3)
    (wall 2 2) (wall 3 2) (wall 4 2) (wall 6 2) (wall 7 2) (wall 8 2) (wall 9 2)
    (wall 6 1) (wall 7 1) (wall 8 1) (wall 9 1)
    (door 2 7)
    (door 8 7)
    (door 6 3)
    (door 7 3)
    (at key1 5 7)
    (at key2 3 5)
    (at gem1 1 7)
    (at gem2 9 7)
    (at gem3 9 3))
  (:goal (has gem2)))
