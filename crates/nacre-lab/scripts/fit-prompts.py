#!/usr/bin/env python3
"""Fits the weights that decide whether the prompt hook gives a memory.

Usage: crates/nacre-lab/scripts/fit-prompts.py LAB OUT DATASET... [--sessions DATASET...] [--held DATASET...]

LAB is the program `nacre-lab`; a DATASET is a folder with `.nacre/memory/` and `prompts.jsonl`, as `eval hook` takes it. Prompts
after --sessions come with the session before them (`past`) and its id (`session`), and count more, because there are few of
them. They are also measured with weights fitted without their half of the sessions, for several random halves. Those after
--held are only measured. Writes the weights to OUT, `crates/nacre-memory/assets/prompt-gate.json`. Needs scikit-learn.
"""

import json
import random
import subprocess
import sys

import numpy as np
from sklearn.linear_model import LogisticRegression

# The same values as in recall/prompt.rs.
MAX_ITEMS, MIN_SHARE = 3, 0.55
# Scales of the features and of the vector. A larger scale means weaker regularization.
SCALES, MEANING = np.array([6, 4, 1, 2, 1, 1, 1]), 3
WEIGHTS = {"prompts": 0.1, "sessions": 1.0}
# Memories with at least this probability are returned.
THRESHOLD = 0.4
# Number of times that the sessions are split, and number of parts in each split.
TIMES, PARTS = 10, 2


class Prompt:
    def __init__(self, line, weight, session):
        best, self.weight, self.session = line["best"], weight, session
        self.is_needed, wanted = bool(line["want"]), set(line["want"])
        given = [one["id"] for one in best[:MAX_ITEMS] if one["score"] >= MIN_SHARE * best[0]["score"]]
        self.is_right = bool(wanted & set(given))
        features = best[0]["features"] if best else np.zeros(len(SCALES))
        self.signals = np.concatenate([np.array(features) * SCALES, np.array(line["meaning"]) * MEANING])


def read(program, folders, weight):
    for folder in folders:
        printed = subprocess.run([program, "fit", "prompts", folder], check=True, capture_output=True, text=True).stdout
        sessions = [json.loads(line).get("session") for line in open(f"{folder}/prompts.jsonl")]
        yield from (Prompt(json.loads(line), weight, session) for line, session in zip(printed.splitlines(), sessions, strict=True))


def fit(prompts):
    model = LogisticRegression(max_iter=2000)
    model.fit([one.signals for one in prompts], [one.is_right for one in prompts], [one.weight for one in prompts])
    return model


def report(name, prompts, given):
    needed = [one for one, is_given in zip(prompts, given) if one.is_needed and is_given]
    right, n_needed = sum(one.is_right for one in needed), sum(one.is_needed for one in prompts)
    silent = sum(not one.is_needed and not is_given for one, is_given in zip(prompts, given))
    print(f"{name}: needed {n_needed}: right {right}, only others {len(needed) - right}; not needed {len(prompts) - n_needed}: silent {silent}")


def main():
    program, out, *rest = sys.argv[1:]
    folders, into = {"prompts": [], "sessions": [], "held": []}, "prompts"
    for argument in rest:
        if argument.startswith("--"):
            into = argument[2:]
        else:
            folders[into].append(argument)
    read_all = lambda kind: list(read(program, folders[kind], WEIGHTS.get(kind, 0)))
    prompts, sessions, held = map(read_all, folders)
    bound = np.log(THRESHOLD / (1 - THRESHOLD))
    decide = lambda model, those: model.decision_function([one.signals for one in those]) > bound
    for time in range(TIMES if sessions else 0):
        ids = sorted({one.session for one in sessions})
        random.Random(time).shuffle(ids)
        part_of = {id: number % PARTS for number, id in enumerate(ids)}
        left_out = np.zeros(len(sessions), bool)
        for part in range(PARTS):
            rest = [one for one in sessions if part_of[one.session] != part]
            is_in = np.array([part_of[one.session] == part for one in sessions])
            left_out[is_in] = decide(fit(prompts + rest), [one for one in sessions if part_of[one.session] == part])
        report(f"sessions, left out, {time + 1}", sessions, left_out)
    model = fit(prompts + sessions)
    for name, those in (("prompts, fitted", prompts), ("sessions, fitted", sessions), ("held", held)):
        if those:
            report(name, those, decide(model, those))
    weights = model.coef_[0] * np.concatenate([SCALES, np.full(len(model.coef_[0]) - len(SCALES), MEANING)])
    round_all = lambda values: [round(float(value), 3) for value in values]
    bias = round(float(model.intercept_[0] - bound), 3)
    gate = {"bias": bias, "features": round_all(weights[: len(SCALES)]), "meaning": round_all(weights[len(SCALES) :])}
    with open(out, "w") as file:
        json.dump(gate, file)
        file.write("\n")


if __name__ == "__main__":
    main()
