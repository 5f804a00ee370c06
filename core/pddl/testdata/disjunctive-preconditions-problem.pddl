(define (problem night) (:domain door) (:init (alarm)) (:goal (open)))
