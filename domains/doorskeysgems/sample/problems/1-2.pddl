; Two ways in.
; 9 # # # # g # # # #
; 8 # # # # + # # # #
; 7 . . . . . . . . .
; 6 . # # # # # # # .
; 5 . k . + + g + . .
; 4 . # # # # # # # .
; 3 . # # # # # # # .
; 2 . . . + . g # # .
; 1 s # # # # # # # .
;   1 2 3 4 5 6 7 8 9
; # wall, + locked door, k key, g gem, s the agent

(define (problem two-ways)
  (:domain doors-keys-gems)
  (:objects
    up down left right - direction
    key1 - key
    gem1 gem2 gem3 - gem)
  (:init
    (= (xdiff up) 0) (= (ydiff up) 1)
    (= (xdiff down) 0) (= (ydiff down) -1)
    (= (xdiff left) -1) (= (ydiff left) 0)
    (= (xdiff right) 1) (= (ydiff right) 0)
    (= (width) 9) (= (height) 9)
    (= (xpos) 1) (= (ypos) 1)
    (wall 1 9) (wall 2 9) (wall 3 9) (wall 4 9) (wall 6 9) (wall 7 9) (wall 8 9) (wall 9 9)
    (wall 1 8) (wall 2 8) (wall 3 8) (wall 4 8) (wall 6 8) (wall 7 8) (wall 8 8) (wall 9 8)
    (wall 2 6) (wall 3 6) (wall 4 6) (wall 5 6) (wall 6 6) (wall 7 6) (wall 8 6)
    (wall 2 4) (wall 3 4) (wall 4 4) (wall 5 4) (wall 6 4) (wall 7 4) (wall 8 4)
    (wall 2 3) (wall 3 3) (wall 4 3) (wall 5 3) (wall 6 3) (wall 7 3) (wall 8 3)
    (wall 7 2) (wall 8 2)
    (wall 2 1) (wall 3 1) (wall 4 1) (wall 5 1) (wall 6 1) (wall 7 1) (wall 8 1)
    (door 5 8)
    (door 4 5)
    (door 5 5)
    (door 7 5)
    (door 4 2)
    (at key1 2 5)
    (at gem1 5 9)
    (at gem2 6 5)
    (at gem3 6 2))
  (:goal (has gem2)))
