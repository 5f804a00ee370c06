; The storeroom.
; 8 # # # # g # # # #
; 7 # # # # + # # # #
; 6 k . . . . . . . #
; 5 # # # # . # # . #
; 4 # # # # . # # . #
; 3 g . + + . # # + #
; 2 # # # # . # # . k
; 1 # # # # s # # k g
;   1 2 3 4 5 6 7 8 9
; # wall, + locked door, k key, g gem, s the agent

(define (problem storeroom)
  (:domain doors-keys-gems)
  (:objects
    up down left right - direction
    key1 key2 key3 - key
    gem1 gem2 gem3 - gem)
  (:init
    (= (xdiff up) 0) (= (ydiff up) 1)
    (= (xdiff down) 0) (= (ydiff down) -1)
    (= (xdiff left) -1) (= (ydiff left) 0)
    (= (xdiff right) 1) (= (ydiff right) 0)
    (= (width) 9) (= (height) 8)
    (= (xpos) 5) (= (ypos) 1)
    (wall 1 8) (wall 2 8) (wall 3 8) (wall 4 8) (wall 6 8) (wall 7 8) (wall 8 8) (wall 9 8)
    (wall 1 7) (wall 2 7) (wall 3 7) (wall 4 7) (wall 6 7) (wall 7 7) (wall 8 7) (wall 9 7)
    (wall 9 6)
    (wall 1 5) (wall 2 5) (wall 3 5) (wall 4 5) (wall 6 5) (wall 7 5) (wall 9 5)
    (wall 1 4) (wall 2 4) (wall 3 4) (wall 4 4) (wall 6 4) (wall 7 4) (wall 9 4)
    (wall 6 3) (wall 7 3) (wall 9 3)
    (wall 1 2) (wall 2 2) (wall 3 2) (wall 4 2) (wall 6 2) (wall 7 2)
    (wall 1 1) (wall 2 1) (wall 3 1) (wall 4 1) (wall 6 1) (wall 7 1)
    (door 5 7)
    (door 3 3)
    (door 4 3)
    (door 8 3)
    (at key1 1 6)
    (at key2 9 2)
    (at key3 8 1)
    (at gem1 5 8)
    (at gem2 1 3)
    (at gem3 9 1))
  (:goal (has gem3)))
