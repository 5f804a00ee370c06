; Types in three levels, a constant, alternatives by either; names in any case.
(define (domain Ferry)
  (:requirements :strips :typing)
  (:types car bike - vehicle
          vehicle dog - cargo
          cargo place)
  (:constants Quay - place)
  (:predicates (at ?c - cargo ?p - place) (aboard ?c - cargo) (moored ?p - place) (Paid ?v - vehicle))
  (:action Pay :parameters (?v - vehicle) :precondition (at ?v quay) :effect (paid ?v))
  (:action board
    :parameters (?c - (either dog bike) ?p - place)
    :precondition (and (at ?c ?p) (moored ?p))
    :effect (and (aboard ?c) (not (at ?c ?p))))
  (:action drive-on
    :parameters (?c - CAR ?p - place)
    :precondition (and (at ?c ?p) (moored ?p) (PAID ?c))
    :effect (and (aboard ?c) (not (at ?c ?p))))
  (:action sail
    :parameters (?from ?to - place)
    :precondition (moored ?from)
    :effect (and (not (moored ?from)) (moored ?to)))
  (:action land
    :parameters (?c - cargo ?p - place)
    :precondition (and (aboard ?c) (moored ?p))
    :effect (and (at ?c ?p) (not (aboard ?c)))))
