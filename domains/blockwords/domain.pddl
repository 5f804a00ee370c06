; Block Words: lettered blocks, a table with room for all of them, and one hand.
; A block on another covers it; only a clear block can be taken.
; A word is spelt by a tower, first letter on top.

(define (domain block-words)
  (:requirements :strips :typing :equality :negative-preconditions)

  (:types block)

  (:predicates
    (ontable ?x - block)   ; ?x stands on the table
    (on ?x ?y - block)     ; ?x stands on ?y
    (clear ?x - block)     ; nothing stands on ?x, and ?x is not in the hand
    (holding ?x - block)   ; ?x is in the hand
    (handempty))           ; nothing is in the hand

  ; Into the hand, from the table or from another block.

  (:action pick-up
    :parameters (?x - block)
    :precondition (and (handempty) (ontable ?x) (clear ?x))
    :effect (and (holding ?x) (not (handempty)) (not (ontable ?x)) (not (clear ?x))))

  (:action unstack
    :parameters (?x ?y - block)
    :precondition (and (handempty) (on ?x ?y) (clear ?x) (not (= ?x ?y)))
    :effect (and (holding ?x) (clear ?y)
                 (not (handempty)) (not (on ?x ?y)) (not (clear ?x))))

  ; Out of the hand, onto the table or onto another block.

  (:action put-down
    :parameters (?x - block)
    :precondition (holding ?x)
    :effect (and (ontable ?x) (clear ?x) (handempty) (not (holding ?x))))

  (:action stack
    :parameters (?x ?y - block)
    :precondition (and (holding ?x) (clear ?y) (not (= ?x ?y)))
    :effect (and (on ?x ?y) (clear ?x) (handempty)
                 (not (holding ?x)) (not (clear ?y)))))
