; Doors, Keys & Gems: one agent walks a maze of width by height cells to take a gem.
; Cell (1, 1) is at the bottom left; up is y + 1. Any key opens any door, once.

(define (domain doors-keys-gems)
  (:requirements :strips :typing :negative-preconditions :disjunctive-preconditions
                 :numeric-fluents :derived-predicates)

  (:types
    direction item - object
    key gem - item)

  (:functions
    (width) (height)                                ; size of the maze, in cells
    (xpos) (ypos)                                   ; the agent's cell
    (xdiff ?d - direction) (ydiff ?d - direction))  ; one step in direction ?d

  (:predicates
    (wall ?x ?y)            ; cell (?x, ?y) is wall
    (door ?x ?y)            ; a locked door fills the cell
    (obstacle ?x ?y)        ; the cell cannot be entered
    (at ?i - item ?x ?y)    ; ?i lies in the cell
    (has ?i - item)         ; the agent carries ?i
    (doorloc ?x ?y)         ; the cell had a door at first (optional, not used here)
    (itemloc ?x ?y))        ; the cell had an item at first (optional, not used here)

  (:derived (obstacle ?x ?y)
    (or (wall ?x ?y) (door ?x ?y)))

  ; Steps to a neighbouring cell.

  (:action left
    :parameters ()
    :precondition (and (> (xpos) 1) (not (obstacle (- (xpos) 1) (ypos))))
    :effect (decrease (xpos) 1))

  (:action right
    :parameters ()
    :precondition (and (< (xpos) (width)) (not (obstacle (+ (xpos) 1) (ypos))))
    :effect (increase (xpos) 1))

  (:action down
    :parameters ()
    :precondition (and (> (ypos) 1) (not (obstacle (xpos) (- (ypos) 1))))
    :effect (decrease (ypos) 1))

  (:action up
    :parameters ()
    :precondition (and (< (ypos) (height)) (not (obstacle (xpos) (+ (ypos) 1))))
    :effect (increase (ypos) 1))

  ; What lies in the agent's own cell, and a door beside it.

  (:action pickup
    :parameters (?i - item)
    :precondition (at ?i (xpos) (ypos))
    :effect (and (has ?i) (not (at ?i (xpos) (ypos)))))

  (:action unlock
    :parameters (?k - key ?d - direction)
    :precondition (and (has ?k)
                       (door (+ (xpos) (xdiff ?d)) (+ (ypos) (ydiff ?d))))
    :effect (and (not (has ?k))
                 (not (door (+ (xpos) (xdiff ?d)) (+ (ypos) (ydiff ?d)))))))
