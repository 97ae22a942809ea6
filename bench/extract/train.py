#!/usr/bin/env python3
"""Trains the model that judges blocks, and tells how it does on sites that it has not seen.

    train.py --data DIR              five-fold cross-validation by site, nothing written
    train.py --data DIR --write      trains on all pages and writes activities/domain/text/src/page/model.txt

What is learnt of a block is the share of it that stands in the reference text, in its order. (A second forest that saw what
the first made of the blocks around was tried and gained nothing.)
"""

import argparse
import hashlib
import json
import pathlib
import subprocess

import lightgbm
import numpy
from export import export
from prepare import Sample, samples
from rapidfuzz.distance import LCSseq
import synthetic
from score import TOKEN, bag_f1, mean, shingle_counts, shingle_f1

HERE = pathlib.Path(__file__).resolve().parent
MODEL = HERE.parents[1] / "activities/domain/text/src/page/model.txt"
FOLDS = 5
SYNTHETIC = 400  # pages, each with a quarter of the weight of a real one
MOST_BLOCKS = 250  # a page with more is sampled: one page is one page
PARAMETERS = {
    "objective": "cross_entropy",
    "learning_rate": 0.08,
    "num_leaves": 12,
    "min_data_in_leaf": 80,
    "feature_fraction": 0.25,
    "bagging_fraction": 0.7,
    "bagging_freq": 1,
    "lambda_l2": 10,
    "max_bin": 63,
    "deterministic": True,
    "force_row_wise": True,
    "num_threads": 1,
    "seed": 1,
    "verbose": -1,
}
ROUNDS = 200


class Page:
    """A page's blocks, with their features and the share of each that is main text."""

    def __init__(self, sample: Sample, observed: dict):
        self.sample = sample
        self.texts = observed["texts"]
        self.features = numpy.array(observed["features"], numpy.float32)
        self.words = numpy.expm1(self.features[:, 1]).astype(float)
        self.shares = main_text_shares(self.texts, sample.gold)
        # FNV: the same site is in the same fold in every run.
        self.fold = int(hashlib.md5(sample.site.encode()).hexdigest(), 16) % FOLDS
        chance = numpy.random.default_rng(int(hashlib.md5(sample.id.encode()).hexdigest(), 16) % 2**32)
        count = len(self.texts)
        self.rows = numpy.sort(chance.permutation(count)[:MOST_BLOCKS])
        # What a block that is wrongly judged costs its page in F1, about.
        weights = (self.words + 0.3) / max(100.0, len(tokens(sample.gold)))
        self.weights = weights * min(1.0, 4.0 / max(weights.sum(), 1e-9)) * count / max(1, len(self.rows))
        if sample.set == "synthetic":
            self.weights *= 0.25


def tokens(text: str) -> list[str]:
    return TOKEN.findall(text.lower())


def main_text_shares(texts: list[str], gold: str) -> numpy.ndarray:
    """Of each block the share of its words that the reference has in the same order, and in the same company."""
    want, blocks = tokens(gold), [tokens(text) for text in texts]
    flat = [token for block in blocks for token in block]
    matched = numpy.zeros(len(flat), bool)
    if flat and want:
        for step in LCSseq.opcodes(flat, want):
            if step.tag == "equal":
                matched[step.src_start : step.src_end] = True
    company = {tuple(want[at : at + 3]) for at in range(len(want) - 2)}
    shares, start = [], 0
    for block in blocks:
        share = matched[start : start + len(block)].mean() if block else 0.0
        start += len(block)
        if len(block) >= 3:
            threes = len(block) - 2
            share = min(share, sum(tuple(block[at : at + 3]) in company for at in range(threes)) / threes)
        shares.append(share)
    return numpy.array(shares)


def load(data: pathlib.Path, program: str) -> list[Page]:
    pages = {sample.id: sample for sample in [*samples(data), *synthetic.pages(SYNTHETIC)]}
    lines = (json.dumps({"id": s.id, "url": s.url, "html": s.html}) + "\n" for s in pages.values())
    cache = HERE.parent / "data/extract/blocks.jsonl"
    if program:
        cache.parent.mkdir(parents=True, exist_ok=True)
        with cache.open("w") as out:
            child = subprocess.Popen([program, "observe"], stdin=subprocess.PIPE, stdout=out, text=True)
            for line in lines:
                child.stdin.write(line)
            child.stdin.close()
            if child.wait():
                raise SystemExit(f"{program} failed")
    return [Page(pages[row["id"]], row) for row in map(json.loads, cache.open()) if row["texts"]]


def threshold(chances: numpy.ndarray, words: numpy.ndarray) -> float:
    """Half of the F1 that can be expected: what is less likely main text than that lowers it."""
    order = numpy.argsort(-chances, kind="stable")
    weight = words + 0.3
    true = numpy.cumsum((chances * weight)[order])
    size = numpy.cumsum(weight[order])
    return float((2 * true / (size + (chances * weight).sum())).max() / 2)


def fit(pages: list[Page]) -> lightgbm.Booster:
    rows = numpy.vstack([page.features[page.rows] for page in pages])
    labels = numpy.concatenate([page.shares[page.rows] for page in pages])
    weights = numpy.concatenate([page.weights[page.rows] for page in pages])
    return lightgbm.train(PARAMETERS, lightgbm.Dataset(rows, labels, weight=weights / weights.mean()), ROUNDS)


def cross_fit(pages: list[Page]) -> list[numpy.ndarray]:
    """The chances of every page by a forest that has seen no page of its site."""
    chances: list[numpy.ndarray] = [numpy.zeros(0)] * len(pages)
    for fold in range(FOLDS):
        seen = [at for at, page in enumerate(pages) if page.fold != fold]
        model = fit([pages[at] for at in seen])
        for at, page in enumerate(pages):
            if page.fold == fold:
                chances[at] = model.predict(page.features)
    return chances


def report(pages: list[Page], chances: list[numpy.ndarray], bias: float) -> None:
    counts, scores = [], {}
    for page, known in zip(pages, chances):
        least = max(0.02, threshold(known, page.words) + bias)
        text = "\n".join(text for text, chance in zip(page.texts, known) if chance >= least)
        if page.sample.set == "scrapinghub":
            counts.append(shingle_counts(page.sample.gold, text))
        else:
            scores.setdefault(page.sample.kind, []).append(bag_f1(page.sample.gold, text))
    kinds = " ".join(f"{kind[:4]} {mean(values):.3f}" for kind, values in sorted(scores.items()))
    every = [score for kind, values in scores.items() for score in values if kind != "synthetic"]
    f1, precision, recall = shingle_f1(counts)
    print(f"{bias:+.2f}: scrapinghub {f1:.4f} ({precision:.3f}, {recall:.3f}) wcxb {mean(every):.4f} {kinds}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--program", default="", help="corpora-bench-extract; without it the blocks of the last run are used")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--save", help="a file for the chances of cross-validation")
    options = parser.parse_args()
    pages = load(options.data, options.program)
    if options.write:
        MODEL.write_text(export(fit(pages)))
        return
    chances = cross_fit(pages)
    for bias in (-0.1, -0.05, 0.0, 0.05):
        report(pages, chances, bias)
    if options.save:
        numpy.savez(options.save, **{page.sample.id: known for page, known in zip(pages, chances)})


main()
