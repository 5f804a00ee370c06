package fit_test

// The tables of the tiny study. r of the first parameter set is
// 1.85 / sqrt(4.125 x 1.955), as found by hand; for intervals there are too few stimuli.
const (
	fits = `
stage,model,parameter_set,goal_noise,budget_r,budget_q,search_noise,action_noise,alpha,value,unreachable_value,runs,particles_per_goal,samples,n,pearson_r,ci_low,ci_high,mc_se,rmse,ci_unit,undefined_stimuli,complete
fit,boltzmann,1,,,,,,0.5,optimal,-1000,1,,,7,0.6514579241631584,,,0,0.22038926600773587,,0,yes
fit,boltzmann,2,,,,,,0.5,heuristic,-1000,1,,,5,0.9759000729485334,,,0,0.0547722557505166,,1,no
`
	intervals = `
stage,model,parameter_set,unit,ci_low,ci_high,resamples,reason
fit,boltzmann,1,stimuli,,,,"2 stimuli, and 5 are needed"
fit,boltzmann,1,both,,,,"a stimulus has 2 participants, and 5 are needed in each"
fit,boltzmann,2,stimuli,,,,"2 stimuli, and 5 are needed"
fit,boltzmann,2,both,,,,"a stimulus has 2 participants, and 5 are needed in each"
`
	byCategory = `
stage,model,parameter_set,category,n,pearson_r,rmse
fit,boltzmann,1,plain,4,0.9999999999999998,0.1767766952966369
fit,boltzmann,1,"odd, very",3,-0.5,0.26770630673681683
fit,boltzmann,2,plain,2,,0
fit,boltzmann,2,"odd, very",3,0.9999999999999998,0.07071067811865474
`
	byStimulus = `
stage,model,parameter_set,stimulus,n,pearson_r,rmse
fit,boltzmann,1,a,4,0.9999999999999998,0.1767766952966369
fit,boltzmann,1,b,3,-0.5,0.26770630673681683
fit,boltzmann,2,a,2,,0
fit,boltzmann,2,b,3,0.9999999999999998,0.07071067811865474
`
	posteriors = `
stage,model,parameter_set,stimulus,step,goal,probability,mc_se,human,human_se,goal_log_evidence,outcome
fit,boltzmann,1,a,0,red,0.5,0,0.5,0,,
fit,boltzmann,1,a,0,green,0.5,0,0.5,0,,
fit,boltzmann,1,a,1,red,0.25,0,,,,goal cannot be reached
fit,boltzmann,1,a,1,green,0.75,0,,,,
fit,boltzmann,1,a,2,red,0,0,0.25,0.25,,goal cannot be reached
fit,boltzmann,1,a,2,green,1,0,0.75,0.25,,
fit,boltzmann,1,b,0,red,0.25,0,,,,
fit,boltzmann,1,b,0,green,0.25,0,,,,
fit,boltzmann,1,b,0,blue,0.5,0,,,,
fit,boltzmann,1,b,1,red,0.5,0,0.2,0,,
fit,boltzmann,1,b,1,green,0.25,0,0.6,0,,
fit,boltzmann,1,b,1,blue,0.25,0,0.2,0,,
fit,boltzmann,2,a,0,red,0.5,0,0.5,0,,
fit,boltzmann,2,a,0,green,0.5,0,0.5,0,,
fit,boltzmann,2,a,1,,,,,,,"impossible at step 1, action (switch red)"
fit,boltzmann,2,b,0,red,0.125,0,,,,
fit,boltzmann,2,b,0,green,0.375,0,,,,
fit,boltzmann,2,b,0,blue,0.5,0,,,,
fit,boltzmann,2,b,1,red,0.25,0,0.2,0,,
fit,boltzmann,2,b,1,green,0.5,0,0.6,0,,
fit,boltzmann,2,b,1,blue,0.25,0,0.2,0,,
`
	resolved = `
models:
  boltzmann:
    alpha: [0.5]
    value: [optimal, heuristic]
    unreachable_value: [-1000]
action_noise_kind: total
inference:
  method: sips
  observe: noisy
  filters: joint
  resample: ess
  resample_threshold: 0.25
  resample_kind: residual
  rejuvenate: none
fit:
  runs: 3
  particles_per_goal: 4
report:
  runs: 0
  particles_per_goal: 0
bootstrap:
  resamples: 20
  units: [stimuli, both]
seed: 7
`
	manifested = `
{
  "sweep_id": "abc",
  "study": "tiny",
  "title": "Tiny",
  "domain": "lamps",
  "simulated": "Drawn by hand.",
  "study_hash": "f00",
  "inputs": {
    "a.plan": "f02",
    "study.yaml": "f01"
  },
  "seed": 7,
  "version": "v1",
  "complete": true,
  "cells": 4,
  "parameter_sets": {
    "boltzmann": 2
  },
  "warnings": [
    "boltzmann: 1 of 2 settings are not compared with the best, which has a posterior at all 7 points, since theirs are not the same; #2 alpha=0.5 value=heuristic unreachable_value=-1000 has the higher r, 0.976, but over 5 points.",
    "category \"plain\" has 4 points: its r says little.",
    "category \"odd, very\" has 3 points: its r says little.",
    "not given, for want of units: intervals by stimuli (2 stimuli, and 5 are needed); intervals by both (a stimulus has 2 participants, and 5 are needed in each); the reliability of the means and the ceiling on r (a stimulus has 2 participants, and 5 are needed in each); cross-validation (2 stimuli, and 3 are needed); the comparison of models by participants (4 participants, and 5 are needed)."
  ],
  "created": "2021-07-26T00:00:00Z"
}
`
)
