#!/usr/bin/env python3
"""Fits the weights that decide whether the prompt hook speaks, and says what they give on projects they were not fitted on.

Usage: tools/fit-prompts.py PROMPT_FIT DATASET... [--merged DATASET...]

PROMPT_FIT is the example of nacre-core, DATASET a folder with `.nacre/memory/` and `prompts.jsonl`. The folders after --merged have the same
prompts and the memories of all projects: what a larger store changes. Needs scikit-learn and snowballstemmer.

Prints the table by left-out project, the constants of `floor` in fitting.rs and the weights of `STEMS` in wording.rs.
"""

import json
import math
import os
import re
import subprocess
import sys
from collections import defaultdict

import numpy as np
import snowballstemmer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

# What the prompts without a fitting memory are to be left alone at.
SILENCE = 0.95
# As in flows/prompted and fitting.rs.
MAX_ITEMS, MIN_SHARE = 3, 0.55
FEW, MANY = math.log(4), math.log(12)
# A stem is taken when it occurs in this many prompts and projects, and its weight is not next to nothing.
MIN_PROMPTS, MIN_PROJECTS, MIN_WEIGHT, RIDGE = 16, 9, 0.05, 0.03
# Stems that are about topics, or whose weight has no reason that anybody could see.
LEFT_OUT = set("memori io db pod yaml json md tag login chart w d thread stack night row queri date index post view py csv model script sampl record server api data header min n link local load three main entri node key status off back right up out id field column tabl report log read send".split())
NAMES = ["SIMILARITY", "WORDS", "CHORE", "LENGTH", "EXCESS", "TIDYING", "SURROUNDINGS"]

english = snowballstemmer.stemmer("english")


def stems(prompt):
    words = {word for word in re.split(r"[^0-9a-z]+", prompt.lower()) if word}
    return {english.stemWord(word) if len(word) > 2 else word for word in words if word.isalpha()}


class Prompt:
    def __init__(self, project, line):
        self.project, self.wanted, self.fits = project, set(line["want"]), line["fits"]
        self.stems, self.n_memories = stems(line["prompt"]), line["n_memories"]
        best, length = self.fits[0], math.log(1 + line["n_terms"])
        self.signals = [best["similarity"], math.sqrt(best["words"]), line["chore"], min(max(length, FEW), MANY),
                        max(length - MANY, 0), line["tidying"], line["surroundings"]]
        told = [fit["id"] for fit in self.fits[:MAX_ITEMS] if fit["score"] >= MIN_SHARE * best["score"]]
        self.n_told, self.n_right = len(told), len(self.wanted & set(told))


def read(program, folders):
    prompts = []
    name_of = lambda folder: os.path.basename(os.path.normpath(folder))
    for folder in sorted(folders, key=name_of):
        printed = subprocess.run([program, folder], check=True, capture_output=True, text=True).stdout
        prompts += [Prompt(name_of(folder), json.loads(line)) for line in printed.splitlines()]
    return prompts


def vocabulary(prompts):
    places, counts = defaultdict(set), defaultdict(int)
    for prompt in prompts:
        for stem in prompt.stems:
            places[stem].add(prompt.project)
            counts[stem] += 1
    return sorted(s for s in counts if counts[s] >= MIN_PROMPTS and len(places[s]) >= MIN_PROJECTS and s not in LEFT_OUT)


def stem_weights(held, wanted):
    weights = LogisticRegression(C=RIDGE, max_iter=3000).fit(held, wanted).coef_[0]
    return np.where(np.abs(weights) < MIN_WEIGHT, 0, weights)


def phrasing(held, wanted, projects):
    """What the stems of each prompt say by the weights that the other projects give them."""
    said = np.zeros(len(wanted))
    for project in set(projects):
        out = projects == project
        said[out] = held[out] @ stem_weights(held[~out], wanted[~out])
    return said


def regression(signals, wanted):
    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=3000)).fit(signals, wanted)


def left_out(prompts, held, merged):
    """The evidence for each prompt by weights that its project had no part in; the same in a larger store."""
    wanted, projects = np.array([bool(p.wanted) for p in prompts]), np.array([p.project for p in prompts])
    evidence, in_merged = np.zeros(len(prompts)), np.zeros(len(prompts))
    table = lambda of, said: np.hstack([np.array([p.signals for p in of]), said[:, None]])
    for project in sorted(set(projects)):
        out = projects == project
        said = np.zeros(len(prompts))
        said[~out] = phrasing(held[~out], wanted[~out], projects[~out])
        said[out] = held[out] @ stem_weights(held[~out], wanted[~out])
        model = regression(table(prompts, said)[~out], wanted[~out])
        evidence[out] = model.decision_function(table(prompts, said)[out])
        if merged:
            in_merged[out] = model.decision_function(table(merged, said)[out])
    return evidence, in_merged


def tally(name, prompts, speaks):
    fitting = [(p, s) for p, s in zip(prompts, speaks) if p.wanted]
    others = [s for p, s in zip(prompts, speaks) if not p.wanted]
    helped, silent = sum(s and p.n_right > 0 for p, s in fitting), len(others) - sum(others)
    told, right = sum(p.n_told for p, s in zip(prompts, speaks) if s), sum(p.n_right for p, s in zip(prompts, speaks) if s)
    print(f"{name:20} helped {helped:3} of {len(fitting):3} ({helped / len(fitting):.3f})  silent {silent:3} of {len(others):3} "
          f"({silent / len(others):.3f})  told {told:3}, wanted {right:3}")


def main():
    program, *folders = sys.argv[1:]
    at = folders.index("--merged") if "--merged" in folders else len(folders)
    prompts, merged = read(program, folders[:at]), read(program, folders[at + 1:])
    wanted, projects = np.array([bool(p.wanted) for p in prompts]), np.array([p.project for p in prompts])
    known = vocabulary(prompts)
    held = np.array([[float(stem in p.stems) for stem in known] for p in prompts])
    evidence, in_merged = left_out(prompts, held, merged)
    # A project's threshold is that of the others.
    speaks = np.zeros(len(prompts), bool)
    for project in sorted(set(projects)):
        out = projects == project
        speaks[out] = evidence[out] > np.quantile(evidence[~out & ~wanted], SILENCE)
        tally(project, [p for p, o in zip(prompts, out) if o], speaks[out])
    tally("all", prompts, speaks)
    threshold, store, n_usual = np.quantile(evidence[~wanted], SILENCE), 0.0, np.mean([p.n_memories for p in prompts])
    if merged:
        moved = np.quantile(in_merged[~wanted], SILENCE)
        store = (moved - threshold) / math.log(merged[0].n_memories / n_usual)
        tally("one store, as it is", merged, in_merged > threshold)
        tally("one store, STORE", merged, in_merged > moved)
    model = regression(np.hstack([np.array([p.signals for p in prompts]), phrasing(held, wanted, projects)[:, None]]), wanted)
    weights = model[-1].coef_[0] / model[0].scale_
    bias = model[-1].intercept_[0] - weights @ model[0].mean_ - threshold + store * math.log(n_usual)
    for name, weight in zip(NAMES + ["STORE", "BIAS"], [*weights[:-1], -store, bias]):
        print(f"{name} = {weight:.2f}")
    for stem, weight in zip(known, stem_weights(held, wanted) * weights[-1]):
        if weight:
            print(f'    ("{stem}", {weight:.2f}),')


if __name__ == "__main__":
    main()
