"""Prints the constants that the tests of core/stats hold.

python3 check.py [DATA], with NumPy 2.4.6 and SciPy 1.17.1. DATA is the folder of
the published data; without it the constants of published_test.go are left out.
"""

import csv
import itertools
import pathlib
import sys

import numpy as np
import scipy
from scipy import stats

print("numpy", np.__version__, "scipy", scipy.__version__)

x = np.array([0.2, 0.2, 0.35, 0.05, 0.9, 0.6, 0.1, 0.3, 0.0, 1.0])
y = np.array([0.3, 0.1, 0.4, 0.2, 0.7, 0.75, 0.15, 0.2, 0.05, 0.85])
print("pearson", repr(stats.pearsonr(x, y).statistic))
print("rmse", repr(np.sqrt(np.mean((x - y) ** 2))))

# Anscombe's third set, far from the origin.
ax = np.array([10, 8, 13, 9, 11, 14, 6, 4, 12, 7, 5], float)
ay = np.array([7.46, 6.77, 12.74, 7.11, 7.81, 8.84, 6.08, 5.39, 8.15, 6.42, 5.73])
print("anscombe", repr(stats.pearsonr(ax + 1e6, ay).statistic))

for level in (0.5, 0.9, 0.95):
    tail = (1 - level) / 2
    print("interval", level, [float(q) for q in np.quantile(y, [tail, 1 - tail])])

# A study of three stimuli with 2, 3, 2 points and 3, 2, 3 participants.
values = [
    np.array([[0.1, 0.9], [0.3, 0.7], [0.2, 0.6]]),
    np.array([[0.5, 0.2, 0.3], [0.1, 0.6, 0.3]]),
    np.array([[1.0, 0.0], [0.7, 0.4], [0.9, 0.2]]),
]
model = [np.array([0.2, 0.8]), np.array([0.4, 0.4, 0.2]), np.array([0.8, 0.1])]


def means(rows):
    """Every equally likely mean of rows drawn with replacement."""
    n = len(rows)
    return [rows[list(c)].mean(axis=0) for c in itertools.product(range(n), repeat=n)]


def summary(name, rs):
    rs = np.array(rs)
    print(name, "mean", repr(float(rs.mean())), "sd", repr(float(rs.std())))


# The exact bootstrap distributions, by enumeration: 27 * 4 * 27, 27 draws, and
# people drawn across the study (ids shared: a, b, c; a, b; a, b, c).
flat = np.concatenate(model)
drawn = [means(v) for v in values]
summary("participants", [stats.pearsonr(flat, np.concatenate(h)).statistic for h in itertools.product(*drawn)])

by_stimuli = []
for c in itertools.product(range(3), repeat=3):
    mx = np.concatenate([model[s] for s in c])
    my = np.concatenate([values[s].mean(axis=0) for s in c])
    by_stimuli.append(stats.pearsonr(mx, my).statistic)
summary("stimuli", by_stimuli)

first, second = [], []  # moments of r for each draw of stimuli, all equally likely
for c in itertools.product(range(3), repeat=3):
    mx = np.concatenate([model[s] for s in c])
    rs = [np.corrcoef(mx, np.concatenate(h))[0, 1] for h in itertools.product(*[drawn[s] for s in c])]
    first.append(np.mean(rs))
    second.append(np.mean(np.square(rs)))
m = np.mean(first)
print("both mean", repr(float(m)), "sd", repr(float(np.sqrt(np.mean(second) - m**2))))


def people(c, stimuli):
    """Model and people's means when the people c are drawn: who answered only."""
    mx, my = [], []
    for s in stimuli:
        rows = [i for i in c if i < len(values[s])]
        if rows:
            mx.append(model[s])
            my.append(values[s][rows].mean(axis=0))
    return np.concatenate(mx), np.concatenate(my)


linked = [np.corrcoef(*people(c, range(3)))[0, 1] for c in itertools.product(range(3), repeat=3)]
summary("linked participants", linked)

crossed, undefined = [], 0
for c in itertools.product(range(3), repeat=3):
    for t in itertools.product(range(3), repeat=3):
        if set(c) == {2} and set(t) == {1}:  # c never saw stimulus 1
            undefined += 1
            continue
        crossed.append(np.corrcoef(*people(c, t))[0, 1])
summary("linked both", crossed)
print("undefined", undefined, "of", 27 * 27)

# Split-half ceiling of the same study with every possible split of each
# stimulus's participants (1 of 3, 1 of 2, 1 of 3).
halves = []
for v in values:
    out = []
    for i in range(len(v)):
        rest = [j for j in range(len(v)) if j != i]
        out.append((v[i], v[rest].mean(axis=0)))
    halves.append(out)
rs = []
for split in itertools.product(*halves):
    a = np.concatenate([s[0] for s in split])
    b = np.concatenate([s[1] for s in split])
    rs.append(stats.pearsonr(a, b).statistic)
half = np.mean(rs)
print("ceiling", repr(float(np.sqrt(2 * half / (1 + half)))), "sd of a split", repr(float(np.std(rs))))


def published(data, model):
    """Bootstraps r over participants for one golden model on Block Words."""
    responses = {}
    with open(data / "mistakes-2021/block-words/responses.csv") as f:
        for row in csv.DictReader(f):
            people = responses.setdefault(row["stimulus"], {})
            people.setdefault(row["participant"], {})[row["step"], row["goal"]] = float(row["probability"])
    inferred = {}
    with open(data / "golden/marginal.csv") as f:
        for row in csv.DictReader(f):
            if row["domain"] == "block-words" and row["model"] == model:
                inferred.setdefault(row["stimulus"], {})[row["step"], row["goal"]] = float(row["probability"])
    xs, rows = [], []
    for stimulus, m in sorted(inferred.items()):
        people = responses[stimulus]
        points = sorted({p for answers in people.values() for p in answers})
        xs.append(np.array([m[p] for p in points]))
        rows.append(np.array([[answers.get(p, np.nan) for p in points] for answers in people.values()]))
    x = np.concatenate(xs)
    r = stats.pearsonr(x, np.concatenate([np.nanmean(v, 0) for v in rows])).statistic
    rng = np.random.default_rng(2021)
    rs = []
    for _ in range(20000):
        y = [np.nanmean(v[rng.integers(0, len(v), len(v))], 0) for v in rows]
        rs.append(np.corrcoef(x, np.concatenate(y))[0, 1])
    print(model, "stimuli", len(rows), "points", len(x), "r", round(r, 5), "mean", round(np.mean(rs), 5),
          "interval", np.round(np.quantile(rs, [0.025, 0.975]), 4))


if len(sys.argv) > 1:
    for model in ("plan-lesioned", "action-lesioned"):
        published(pathlib.Path(sys.argv[1]), model)
