(define (problem read) (:domain lamp) (:init (dark)) (:goal (lit)))
