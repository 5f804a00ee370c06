"""Writes human.json, the values that human_published_test.go compares with.

python3 human.py DATA > human.json, with NumPy 2.4.6 and SciPy 1.17.1. DATA is the
folder of the published data, of whose Block Words responses human.json holds
aggregates alone. Two predictions, made of the people's means, stand for models:

    sharp   the square of the mean judgement, normalised
    late    the mean judgement at the step before; equal probabilities at the first

Nothing here follows the Go code: resamples are written out, integrals are adaptive.
"""

import csv
import json
import pathlib
import sys

import numpy as np
import scipy
from scipy import integrate, special, stats
from scipy.spatial import distance

SPLITS, RESAMPLES, LEVEL = 10_000, 10_000, 0.95

answers = {}  # stimulus -> participant -> step -> goal -> share
with open(pathlib.Path(sys.argv[1]) / "mistakes-2021" / "block-words" / "responses.csv") as file:
    for row in csv.DictReader(file):
        of = answers.setdefault(row["stimulus"], {}).setdefault(row["participant"], {})
        of.setdefault(row["step"], {})[row["goal"]] = float(row["probability"])

# [participant, step, goal] by stimulus; every participant answered every step.
people = [np.array([[list(step.values()) for step in one.values()] for one in of.values()]) for of in answers.values()]
people = [of / of.sum(axis=2, keepdims=True) for of in people]
means = [of.mean(axis=0) for of in people]


def sharp(mean):
    return mean**2 / (mean**2).sum(axis=1, keepdims=True)


def late(mean):
    return np.vstack([np.full(mean.shape[1], 1 / mean.shape[1]), mean[:-1]])


models = {"sharp": [sharp(m) for m in means], "late": [late(m) for m in means]}


def flat(of):
    return np.concatenate([np.ravel(m) for m in of])


def pearson(x, y):
    return np.corrcoef(x, y)[0, 1]


def rmse(x, y):
    return np.sqrt(np.mean((x - y) ** 2))


def concordance(x, y):
    return 2 * np.cov(x, y, bias=True)[0, 1] / (x.var() + y.var() + (x.mean() - y.mean()) ** 2)


def summary(xs):
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(xs, [tail, 1 - tail])
    return {"mean": float(np.mean(xs)), "sd": float(np.std(xs)), "low": float(low), "high": float(high)}


rng = np.random.default_rng(2021)
out = {
    "numpy": np.__version__, "scipy": scipy.__version__, "splits": SPLITS, "resamples": RESAMPLES,
    "stimuli": len(people), "points": len(flat(means)),
}

halves = []
for _ in range(SPLITS):
    left, right = [], []
    for of in people:
        order = rng.permutation(len(of))
        k = len(of) // 2
        left.append(of[order[:k]].mean(axis=0))
        right.append(of[order[k:]].mean(axis=0))
    halves.append(pearson(flat(left), flat(right)))
half = float(np.mean(halves))
out["split_half"] = {
    "r": half, "sd": float(np.std(halves)), "reliability": 2 * half / (1 + half), "ceiling": float(np.sqrt(2 * half / (1 + half))),
}

out["scores"] = {}
for name, model in models.items():
    x, y = flat(model), flat(means)
    rows = [(a, b) for m, h in zip(model, means) for a, b in zip(m, h)]
    out["scores"][name] = {
        "pearson_r": float(stats.pearsonr(x, y).statistic), "rmse": float(rmse(x, y)),
        "spearman": float(stats.spearmanr(np.round(x, 12), np.round(y, 12)).statistic), "concordance": float(concordance(x, y)),
        "total_variation": float(np.mean([np.abs(a - b).sum() / 2 for a, b in rows])),
        "jensen_shannon": float(np.mean([distance.jensenshannon(a, b, base=2) for a, b in rows])),
    }

out["bootstrap"], out["differences"] = {}, {}
for unit in ("participants", "stimuli", "both"):
    rs = {name: [] for name in models}
    errors = {name: [] for name in models}
    for _ in range(RESAMPLES):
        drawn = range(len(people)) if unit == "participants" else rng.integers(len(people), size=len(people))
        judged = []
        for s in drawn:
            of = people[s]
            judged.append(means[s] if unit == "stimuli" else of[rng.integers(len(of), size=len(of))].mean(axis=0))
        y = flat(judged)
        for name, model in models.items():
            x = flat([model[s] for s in drawn])
            rs[name].append(pearson(x, y))
            errors[name].append(rmse(x, y))
    out["bootstrap"][unit] = {name: summary(rs[name]) for name in models}
    out["differences"][unit] = {
        "pearson_r": summary(np.subtract(rs["sharp"], rs["late"])),
        "rmse": summary(np.subtract(errors["sharp"], errors["late"])),
    }


def log_likelihood(y, p):
    """ln of the integral over the lapse rate, and its posterior mean."""
    goals = p.shape[1]

    def log(lapse):
        return float((y * np.log((1 - lapse) * p + lapse / goals)).sum())

    top = max(log(lapse) for lapse in np.linspace(1e-6, 1, 1001))
    # The points crowd where a model that holds an answer impossible makes the integrand steep.
    points = [1e-6, 1e-4, 1e-3, 1e-2, 0.1, 0.5]

    def integral(f):
        return integrate.quad(f, 0, 1, points=points, epsabs=0, epsrel=1e-10, limit=1000)[0]  # never asks for the ends

    total = integral(lambda lapse: np.exp(log(lapse) - top))
    first = integral(lambda lapse: lapse * np.exp(log(lapse) - top))
    return top + np.log(total), first / total


with np.errstate(divide="ignore", invalid="ignore"):
    each = {name: [log_likelihood(y, p) for of, p in zip(people, model) for y in of] for name, model in models.items()}
out["likelihoods"] = {
    name: {
        "sum": float(sum(log for log, _ in of)), "first": [float(log) for log, _ in of[:5]], "lapse": float(np.mean([lapse for _, lapse in of])),
    }
    for name, of in each.items()
}
out["likelihoods"]["chance"] = {"sum": float(-sum(len(of) * of.shape[1] * np.log(of.shape[2]) for of in people))}
out["participants"] = len(each["sharp"])


def exceedance(alpha):
    xs = []
    for k, a in enumerate(alpha):
        others = [b for j, b in enumerate(alpha) if j != k]
        density = lambda x: stats.gamma.pdf(x, a) * np.prod([stats.gamma.cdf(x, b) for b in others])
        xs.append(integrate.quad(density, 0, a, limit=500)[0] + integrate.quad(density, a, a + 40 * np.sqrt(a) + 40, limit=500)[0])
    return np.array(xs)


def compare(log):
    """Random effects of [participant, model] log evidences, by fixed-point iteration of Stephan et al. (2009)."""
    n, models = log.shape
    alpha = np.ones(models)
    for _ in range(100_000):
        expected = special.digamma(alpha) - special.digamma(alpha.sum())
        g = special.softmax(log + expected, axis=1)
        new = 1 + g.sum(axis=0)
        done = np.abs(new - alpha).max() < 1e-12
        alpha = new
        if done:
            break
    expected = special.digamma(alpha) - special.digamma(alpha.sum())
    # Free energy as in the appendix of Rigoux et al. (2014): joint plus entropies.
    joint = special.gammaln(models) + (g * (expected + log)).sum()
    entropy = stats.dirichlet.entropy(alpha) + special.entr(g).sum()
    f1 = joint + entropy
    f0 = (special.logsumexp(log, axis=1) - np.log(models)).sum()
    risk = special.expit(f0 - f1)
    xp = exceedance(alpha)
    return {
        "frequency": (alpha / alpha.sum()).tolist(), "exceedance": xp.tolist(),
        "protected": ((1 - risk) * xp + risk / models).tolist(), "omnibus_risk": float(risk),
    }


logs = np.array([[log for log, _ in each[name]] for name in models]).T
chance = np.array([-len(y) * np.log(y.shape[1]) for of in people for y in of])
out["comparisons"] = {
    "sharp, late": compare(logs),
    "sharp, late, chance": compare(np.column_stack([logs, chance])),
    "the first 12, sharp, late, chance": compare(np.column_stack([logs, chance])[:12]),
}

json.dump(out, sys.stdout, indent=1)
print()
