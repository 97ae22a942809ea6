#!/usr/bin/env python3
"""Measures extractors of main text on pages whose main text is known: quality, speed, memory.

    bench/extract/run.py --data DIR [--rounds 3] [--tools NAME…] [--write FILE]

DIR holds `scrapinghub` and `wcxb-dev` (see prepare.py). What requirements.txt names goes into bench/.venv, the crates are
built beside this file. Tools take turns (A B C A B C …), each a process that reads the pages one by one; a page's CPU
seconds are those of its extraction alone, memory is the peak of the process. Prints Markdown.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import venv
from pathlib import Path

from prepare import Sample, samples
from score import bag_f1, interval, mean, shingle_counts, shingle_f1

HERE = Path(__file__).resolve().parent
BENCH = HERE.parent
PYTHON = BENCH / ".venv/bin/python"
OURS = "corpora"
RUST = [OURS, "corpora-precision", "corpora-recall", "trafilatura-crate", "trafilatura-crate-precision", "rs-trafilatura", "libreadability", "dom_smoothie"]
PYPI = ["trafilatura", "trafilatura-precision", "trafilatura-fast", "resiliparse", "resiliparse-tuned"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tools", nargs="+", default=RUST + PYPI)
    parser.add_argument("--write", type=Path, help="a file for every text, as JSON")
    asked = parser.parse_args()
    install()
    source = BENCH / "data/extract/pages.jsonl"
    source.parent.mkdir(parents=True, exist_ok=True)
    # A process is charged with the memory that its parent had when it was started: pages are read by others, and late.
    subprocess.run([PYTHON, HERE / "prepare.py", asked.data, source], check=True)
    runs: dict[str, list[Run]] = {tool: [] for tool in asked.tools}
    for _ in range(asked.rounds):
        for tool in asked.tools:
            runs[tool].append(Run(tool, source))
    pages = samples(asked.data)
    print(f"{os.cpu_count()} CPUs, {platform.system()} {platform.release()}, load average {os.getloadavg()[0]:.1f}; {len(pages)} pages.")
    quality = {tool: Quality(pages, taken[0].texts()) for tool, taken in runs.items()}
    table_of_tools(runs, quality)
    if OURS in quality:
        table_of_differences(quality)
    if asked.write:
        asked.write.write_text(json.dumps({tool: taken[0].texts() for tool, taken in runs.items()}, ensure_ascii=False))


def install() -> None:
    if not PYTHON.exists():
        venv.create(BENCH / ".venv", with_pip=True)
    subprocess.run([PYTHON, "-m", "pip", "install", "-q", "-r", HERE / "requirements.txt"], check=True)
    subprocess.run(["cargo", "build", "--release", "--quiet"], cwd=HERE, check=True)


def command(tool: str) -> list[str]:
    if tool in PYPI:
        return [str(PYTHON), str(HERE / "peers.py"), tool]
    target = Path(os.environ.get("CARGO_TARGET_DIR", HERE / "target"))
    return [str(target / "release/corpora-bench-extract"), tool]


class Run:
    """One pass of a tool over all pages."""

    def __init__(self, tool: str, source: Path):
        self.answers = source.with_name(f"{tool}.jsonl")
        with source.open("rb") as pages, self.answers.open("wb") as answers:
            child = subprocess.Popen(command(tool), stdin=pages, stdout=answers, stderr=subprocess.DEVNULL)
            _, status, usage = os.wait4(child.pid, 0)
        if status:
            sys.exit(f"{tool} failed")
        spent = [json.loads(line)["cpu_s"] for line in self.answers.open("rb")]
        self.speed = len(spent) / sum(spent)
        self.peak_mb = usage.ru_maxrss / 1024

    def texts(self) -> dict[str, str]:
        return {answer["id"]: answer["text"] for answer in map(json.loads, self.answers.open("rb"))}


class Quality:
    """What the metrics say of a tool's texts."""

    def __init__(self, pages: list[Sample], texts: dict[str, str]):
        self.counts = [shingle_counts(page.gold, texts[page.id]) for page in pages if page.set == "scrapinghub"]
        self.scores: dict[str, list[float]] = {}
        for page in pages:
            if page.set == "wcxb":
                self.scores.setdefault(page.kind, []).append(bag_f1(page.gold, texts[page.id]))
        self.every = [score for kind in sorted(self.scores) for score in self.scores[kind]]


def table_of_tools(runs: dict[str, list[Run]], quality: dict[str, Quality]) -> None:
    kinds = sorted(next(iter(quality.values())).scores)
    print("\n| tool | scrapinghub F1 (P, R) | wcxb F1 | " + " | ".join(kinds) + " | documents per CPU second | peak MB |")
    print("|---" * (len(kinds) + 5) + "|")
    for tool, found in quality.items():
        f1, precision, recall = shingle_f1(found.counts)
        speed = statistics.median(run.speed for run in runs[tool])
        memory = statistics.median(run.peak_mb for run in runs[tool])
        by_kind = " | ".join(f"{mean(found.scores[kind]):.3f}" for kind in kinds)
        print(f"| {tool} | {f1:.4f} ({precision:.3f}, {recall:.3f}) | {mean(found.every):.4f} | {by_kind} | {speed:.0f} | {memory:.0f} |")


def table_of_differences(quality: dict[str, Quality]) -> None:
    """Ours against the best peer of each column, with the 95 % interval of the difference."""
    ours = quality[OURS]
    peers = {tool: found for tool, found in quality.items() if not tool.startswith(OURS)}
    if not peers:
        return
    print("\n| what | best peer | its F1 | ours | difference, 95 % interval |\n|---|---|---|---|---|")

    def row(name: str, of, statistic) -> None:
        best = max(peers, key=lambda tool: statistic(of(peers[tool])))
        theirs, own = of(peers[best]), of(ours)
        low, high = interval(own, theirs, statistic)
        difference = statistic(own) - statistic(theirs)
        print(f"| {name} | {best} | {statistic(theirs):.4f} | {statistic(own):.4f} | {difference:+.4f} ({low:+.4f} .. {high:+.4f}) |")

    row("scrapinghub", lambda found: found.counts, lambda counts: shingle_f1(counts)[0])
    row("wcxb", lambda found: found.every, mean)
    for kind in sorted(ours.scores):
        row(f"wcxb {kind}", lambda found: found.scores[kind], mean)


if __name__ == "__main__":
    main()
