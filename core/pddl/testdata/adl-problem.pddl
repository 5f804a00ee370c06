(define (problem office) (:domain briefcase)
  (:objects office bank - location pen cheque - item)
  (:init (is-at home) (at pen home) (at cheque home) (checked cheque))
  (:goal (and (at cheque bank) (not (in cheque)) (at pen home))))
