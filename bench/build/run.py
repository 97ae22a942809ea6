#!/usr/bin/env python3
"""Measures `corpora build`, from a config to a verified dataset, against a straightforward Python pipeline.

    bench/build/run.py [--mb 1000] [--files 4] [--rounds 5] [--memory-mb 100 400 1600] [--only SECTION…]

Needs `cargo build --release`. Commands of a section take turns (A B C A B C …). Seconds of CPU are those of whole process
trees. Prints Markdown, and writes every run to bench/data/build/results.json.
"""

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "fetch")]

import corpus
import measure
import programs

REPOSITORY = HERE.parents[1]
DATA = REPOSITORY / "bench" / "data" / "build"
STAGES = ["fetch", "extract", "store", "verify-ledger"]
CHECK_MB, TINY = 20, 1000
MB = 1_000_000


def main() -> None:
    asked = arguments()
    DATA.mkdir(parents=True, exist_ok=True)
    bench = Bench(asked, programs.python(HERE / "requirements.txt"))
    sections = [bench.check, bench.whole, bench.stages, bench.rerun, bench.memory]
    print(f"{os.cpu_count()} CPUs, {processor()}, {platform.system()} {platform.release()}.")
    for section in sections:
        if section.__name__ in (asked.only or [one.__name__ for one in sections]):
            before = os.getloadavg()[0]
            section()
            print(f"\nLoad average (one minute) {before:.1f} before and {os.getloadavg()[0]:.1f} after.", flush=True)
            (DATA / "results.json").write_text(json.dumps(bench.results, indent=1) + "\n", encoding="utf-8")


class Bench:
    """The sections; each prints its table."""

    def __init__(self, asked: argparse.Namespace, interpreter: str) -> None:
        self.asked, self.python = asked, interpreter
        self.results: dict[str, dict[str, list[dict]]] = {}

    def check(self) -> None:
        """Both make the same rows of the same sources, or the comparison is none."""
        config = self.config(CHECK_MB)
        made = {}
        for name, command, folder in (
            ("corpora", corpora("build", config), "artifacts/corpus/datasets/bench/v1"),
            ("straight", self.straight(config), "artifacts"),
        ):
            self.once(command)
            told = subprocess.run([self.python, HERE / "rows.py", self.folder("run") / folder], stdout=subprocess.PIPE, check=True)
            made[name] = told.stdout
        if made["corpora"] != made["straight"]:
            raise SystemExit(f"not the same rows: {made}")
        print(f"\n### Same rows\n\nOf {CHECK_MB} MB both make the same: {made['corpora'].decode().strip()}")

    def whole(self) -> None:
        """The whole build against Python."""
        config = self.config(self.asked.mb)
        commands = {
            "corpora build": corpora("build", config),
            "corpora build --jobs 1, one core": f"taskset -c 0 {corpora('build', config)} --jobs 1",
            "straight Python, less work": self.straight(config),
            "straight Python, same files and languages": f"{self.straight(config)} --same",
        }
        runs: dict[str, list[measure.Run]] = {name: [] for name in commands}
        for _ in range(self.asked.rounds):
            for name, command in commands.items():
                runs[name].append(self.once(command))
        print(f"\n### Whole build, {self.asked.mb} MB in {self.asked.files} files\n")
        self.table("whole", runs)
        print("\n| against corpora build | CPU, × (min..max of the rounds) | wall, × | peak memory, × |\n|---|---|---|---|")
        own = runs.pop("corpora build")
        for name, others in runs.items():
            cells = [ratios(others, own, field) for field in ("cpu", "wall", "rss")]
            print(f"| {name} | {' | '.join(cells)} |")

    def stages(self) -> None:
        """The stages one by one, each a process of its own."""
        config = self.config(self.asked.mb)
        runs: dict[str, list[measure.Run]] = {name: [] for name in STAGES}
        for _ in range(self.asked.rounds):
            shutil.rmtree(self.folder("stages"))
            artifacts = self.folder("stages")
            for name in STAGES:
                runs[name].append(self.once(corpora(name, config, artifacts)))
        print(f"\n### Stage by stage, {self.asked.mb} MB\n")
        self.table("stages", runs, share=True)
        shutil.rmtree(self.folder("stages"))

    def rerun(self) -> None:
        """A second build over what is there."""
        print(
            "\n### A second build\n\n| of | first, wall s | second, wall ms (min..max) | second, CPU ms | peak MB |\n|---|---|---|---|---|"
        )
        for name, config in (
            (f"{self.asked.mb} MB in {self.asked.files} sources", self.config(self.asked.mb)),
            (f"{TINY} sources of one document", corpus.tiny(DATA / "sources", TINY)),
        ):
            shutil.rmtree(self.folder("rerun"))
            command = corpora("build", config, self.folder("rerun"))
            first = self.once(command)
            runs = [self.once(command) for _ in range(self.asked.rounds)]
            wall, cpu = (measure.median(runs, field) * 1000 for field in ("wall", "cpu"))
            span = f"{min(one.wall for one in runs) * 1000:.0f}..{max(one.wall for one in runs) * 1000:.0f}"
            peak = max(one.rss for one in runs) / MB
            print(f"| {name} | {first.wall:.1f} | {wall:.0f} ({span}) | {cpu:.0f} | {peak:.0f} |")
            self.results.setdefault("rerun", {})[name] = [asdict(run) for run in [first, *runs]]
        shutil.rmtree(self.folder("rerun"))

    def memory(self) -> None:
        """Peak memory of a build against the size of the corpus."""
        print("\n### Peak memory of a build\n\n| corpus | largest resident set, MB | CPU s | wall s |\n|---|---|---|---|")
        for size in self.asked.memory_mb:
            run = self.once(corpora("build", self.config(size)))
            print(f"| {size} MB | {run.rss / MB:.0f} | {run.cpu:.1f} | {run.wall:.1f} |", flush=True)
            self.results.setdefault("memory", {})[f"{size} MB"] = [asdict(run)]

    def table(self, key: str, runs: dict[str, list[measure.Run]], share: bool = False) -> None:
        whole = sum(measure.median(of_name, "cpu") for of_name in runs.values())
        print(f"| what | CPU s, median (min..max) | {'share of CPU | ' * share}wall s | peak MB |\n|---|---|{'---|' * share}---|---|")
        for name, of_name in runs.items():
            part = f"{100 * measure.median(of_name, 'cpu') / whole:.0f} % | " if share else ""
            peak = max(one.rss for one in of_name) / MB
            print(f"| {name} | {measure.spread(of_name, 'cpu')} | {part}{measure.spread(of_name, 'wall')} | {peak:.0f} |")
        self.results[key] = {name: [asdict(run) for run in of_name] for name, of_name in runs.items()}

    def once(self, command: str) -> measure.Run:
        """One run in an empty folder, which also is where temporary files go."""
        shutil.rmtree(self.folder("run"))
        folder = self.folder("run")
        return measure.run(command, folder, {"TMPDIR": str(folder), "PYTHONDONTWRITEBYTECODE": "1"})

    def folder(self, name: str) -> Path:
        path = DATA / name
        path.mkdir(exist_ok=True)
        return path

    def config(self, size_mb: int) -> Path:
        return corpus.config(DATA / "sources", size_mb * MB, self.asked.files)

    def straight(self, config: Path) -> str:
        return f"{self.python} {HERE}/straight.py {config} artifacts"


def corpora(verb: str, config: Path, artifacts: Path | str = "artifacts") -> str:
    return f"{programs.corpora()} --quiet {verb} --config {config} --artifacts {artifacts}"


def ratios(others: list[measure.Run], own: list[measure.Run], field: str) -> str:
    """The ratio of the medians, and the least and largest of the ratios within a round."""
    rounds = [getattr(other, field) / getattr(one, field) for other, one in zip(others, own, strict=True)]
    return f"{measure.median(others, field) / measure.median(own, field):.2f} ({min(rounds):.2f}..{max(rounds):.2f})"


def processor() -> str:
    names = (line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name"))
    return next(names, platform.machine())


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mb", type=int, default=1000)
    parser.add_argument("--files", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--memory-mb", type=int, nargs="*", default=[100, 400, 1600], help="up to 4000 is of interest")
    parser.add_argument("--only", nargs="*", choices=["check", "whole", "stages", "rerun", "memory"])
    return parser.parse_args()


if __name__ == "__main__":
    main()
