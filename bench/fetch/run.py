#!/usr/bin/env python3
"""Measures fetch against the tools that people use instead, in one interleaved run.

    bench/fetch/run.py [--download-mb 1000] [--stage-mb 200] [--rounds 5] [--only SECTION…]

Commands of a section take turns (A B C A B C …), so that drift of the machine falls on all of them alike. Seconds are
CPU seconds of whole process trees; the server's are not counted. Prints Markdown, and writes every run to
bench/data/results.json.
"""

import argparse
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import measure
import programs
import serve
import synthetic

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
DATA = REPOSITORY / "bench" / "data"
MB = 1_000_000


@dataclass
class Contender:
    """A command; `needs` names the programs without which it is left out."""

    name: str
    command: str
    needs: list[str] = field(default_factory=list)
    runs: list[measure.Run] = field(default_factory=list)


@dataclass
class Target:
    """`left` must need at most `bound` times what `right` needs."""

    what: str
    left: str
    right: str
    bound: float
    measured: str = "cpu"


def main() -> None:
    asked = arguments()
    DATA.mkdir(parents=True, exist_ok=True)
    for folder in ("www", "scratch"):
        (DATA / folder).mkdir(exist_ok=True)
    bench = Bench(asked.rounds, python())
    sections = {"download": asked.download_mb, "stage": asked.stage_mb, "rerun": asked.stage_mb, "memory": 0}
    print(heading(bench.python))
    with serve.serve(DATA / "www", DATA / "scratch") as base:
        bench.base = base
        for name, size in sections.items():
            if name in (asked.only or sections):
                getattr(bench, name)(size)
    (DATA / "results.json").write_text(json.dumps(bench.results, indent=1) + "\n", encoding="utf-8")


class Bench:
    """The sections; each prints its table."""

    def __init__(self, rounds: int, interpreter: str) -> None:
        self.rounds = rounds
        self.python = interpreter
        self.base = ""
        self.results: dict[str, dict[str, list[dict]]] = {}

    def download(self, size: int) -> None:
        """Download and verify, to disk."""
        file, digest = source(size)
        url = f"{self.base}/{file.name}"
        contenders = [
            Contender("corpora pin", f"{programs.corpora()} pin {url}"),
            Contender("curl -o, openssl dgst", f"curl -sSfo F {url} && openssl dgst -sha256 F", ["curl", "openssl"]),
            Contender("curl, tee, sha256sum", f"curl -sSf {url} | tee F | sha256sum", ["curl", "sha256sum"]),
            Contender("curl, sha256sum (not stored)", f"curl -sSf {url} | sha256sum", ["curl", "sha256sum"]),
            Contender("wget2, sha256sum", f"wget2 -qO F {url} && sha256sum F", ["wget2", "sha256sum"]),
            Contender("aria2c -x1 --checksum", f"aria2c -q -x1 -o F --checksum=sha-256={digest} {url}", ["aria2c"]),
            Contender("aria2c -x8 --checksum", f"aria2c -q -x8 -s8 -o F --checksum=sha-256={digest} {url}", ["aria2c"]),
        ]
        targets = [Target("pin ≤ 1.15 × curl + openssl", "corpora pin", "curl -o, openssl dgst", 1.15)]
        for other in ("curl, sha256sum (not stored)", "wget2, sha256sum", "aria2c -x1 --checksum"):
            targets.append(Target(f"at least 1.5 × less than {other}", "corpora pin", other, 1 / 1.5))
        self.race(f"Download and verify, {size} MB", "download", contenders, targets)

    def stage(self, size: int) -> None:
        """The whole stage: download, verify, split, compress, receipt, ledger."""
        file, digest = source(size)
        url = f"{self.base}/{file.name}"
        config = write_config([("big", url, digest)])
        lines = self.output(config, DATA / "scratch" / "output.jsonl")
        fetch = f"{programs.corpora()} fetch --config {config} --artifacts artifacts --quiet"
        straight = f"{self.python} {HERE}/straight.py"
        contenders = [
            Contender("corpora fetch", fetch),
            Contender("corpora fetch, one core", f"taskset -c 0 {fetch}", ["taskset"]),
            Contender("zstd -3 alone", f"zstd -3 -T1 -q -o F {lines}", ["zstd"]),
            Contender("straight Python, json", f"{straight} json {url} {digest} artifacts"),
            Contender("straight Python, orjson", f"{straight} orjson {url} {digest} artifacts"),
            Contender("datatrove, level 3 (no download, no digest)", f"{self.python} {HERE}/with_datatrove.py {file} artifacts"),
        ]
        if not importable(self.python, "datatrove"):
            del contenders[-1]
        targets = [
            Target("fetch ≤ 1.4 × zstd -3 alone (aim: 1.25)", "corpora fetch", "zstd -3 alone", 1.4),
            Target("at least 2.3 × less than straight Python", "corpora fetch", "straight Python, json", 1 / 2.3),
            Target("at least 1.5 × less than with orjson", "corpora fetch", "straight Python, orjson", 1 / 1.5),
            Target("at least 3 × less than datatrove", "corpora fetch", "datatrove, level 3 (no download, no digest)", 1 / 3),
            Target("wall: second core gains 1.3 ×", "corpora fetch", "corpora fetch, one core", 1 / 1.3, "wall"),
        ]
        self.race(f"Whole stage, {size} MB", "stage", contenders, targets)

    def rerun(self, size: int) -> None:
        """A second run over finished sources."""
        file, digest = source(size)
        big = write_config([("big", f"{self.base}/{file.name}", digest)])
        small = DATA / "www" / "small.jsonl"
        small.write_text('{"text": "small"}\n', encoding="utf-8")
        url, sha256 = f"{self.base}/{small.name}", hashlib.sha256(small.read_bytes()).hexdigest()
        many = write_config([(f"small-{n}", url, sha256) for n in range(200)], "many.toml")
        print("\n### Rerun of finished sources\n\n| sources | wall ms a run, median (min..max) | ms a source | requests |\n|---|---|---|---|")
        for name, config, count in (("one of the whole stage's size", big, 1), ("200 small ones", many, 200)):
            artifacts = DATA / "scratch" / "rerun"
            shutil.rmtree(artifacts, ignore_errors=True)
            command = f"{programs.corpora()} fetch --config {config} --artifacts {artifacts} --quiet --output json"
            subprocess.run(command.split(), stdout=subprocess.DEVNULL, check=True)
            runs = [self.once(command) for _ in range(self.rounds)]
            last = json.loads((DATA / "scratch" / "run" / "stdout").read_text().splitlines()[-1])
            requests = sum(entry["requests"] for entry in last["entries"])
            told = [run.wall * 1000 for run in runs]
            middle = sorted(told)[len(told) // 2]
            print(f"| {name} | {middle:.0f} ({min(told):.0f}..{max(told):.0f}) | {middle / count:.1f} | {requests} |")
            self.results.setdefault("rerun", {})[name] = [asdict(run) for run in runs]

    def memory(self, _: int) -> None:
        """Peak memory of fetch against the size of the file."""
        print("\n### Peak memory\n\n| file | largest resident set, MB |\n|---|---|")
        for size in (50, 200, 800):
            file, digest = source(size)
            config = write_config([("big", f"{self.base}/{file.name}", digest)])
            run = self.once(f"{programs.corpora()} fetch --config {config} --artifacts artifacts --quiet")
            print(f"| {size} MB | {run.rss / MB:.0f} |")
            self.results.setdefault("memory", {})[f"{size} MB"] = [asdict(run)]

    def race(self, title: str, key: str, contenders: list[Contender], targets: list[Target]) -> None:
        missing = [one.name for one in contenders if not all(shutil.which(need) for need in one.needs)]
        entered = [one for one in contenders if one.name not in missing]
        for _ in range(self.rounds):
            for one in entered:
                one.runs.append(self.once(one.command))
        print(f"\n### {title}\n\n| what | CPU s, median (min..max) | wall s | peak MB |\n|---|---|---|---|")
        for one in entered:
            peak = measure.median(one.runs, "rss") / MB
            print(f"| {one.name} | {measure.spread(one.runs, 'cpu')} | {measure.spread(one.runs, 'wall')} | {peak:.0f} |")
        for name in missing:
            print(f"| {name} | not installed | | |")
        print("\n| target | ratio | |\n|---|---|---|")
        by_name = {one.name: one for one in entered}
        for target in targets:
            print(judge(target, by_name))
        self.results[key] = {one.name: [asdict(run) for run in one.runs] for one in entered}

    def once(self, command: str) -> measure.Run:
        """One run in an empty folder, which also is where temporary files go."""
        folder = DATA / "scratch" / "run"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        return measure.run(command, folder, {"TMPDIR": str(folder), "PYTHONDONTWRITEBYTECODE": "1"})

    def output(self, config: Path, path: Path) -> Path:
        """The documents that fetch makes of `config`, unpacked: what zstd alone is given."""
        self.once(f"{programs.corpora()} fetch --config {config} --artifacts artifacts --quiet")
        parts = sorted((DATA / "scratch" / "run" / "artifacts" / "corpus" / "raw").glob("*/*/part-*"))
        with path.open("wb") as out:
            subprocess.run(["zstd", "-dcq", *parts], stdout=out, check=True)
        return path


def judge(target: Target, by_name: dict[str, Contender]) -> str:
    if target.left not in by_name or target.right not in by_name:
        return f"| {target.what} | | not measured |"
    left, right = (measure.median(by_name[name].runs, target.measured) for name in (target.left, target.right))
    ratio = f"{left / right:.2f}" if target.bound > 1 else f"{right / left:.2f} × less"
    return f"| {target.what} | {ratio} | {'met' if left <= target.bound * right else 'missed'} |"


def source(size_mb: int) -> tuple[Path, str]:
    """A synthetic file of this size under the served folder, and its digest."""
    path = DATA / "www" / f"web-{size_mb}mb.jsonl"
    synthetic.write(path, size_mb * MB)
    with path.open("rb") as file:
        return path, hashlib.file_digest(file, "sha256").hexdigest()


def config_text(sources: list[tuple[str, str, str]]) -> str:
    """A config of (id, url, sha256)."""
    lines = ['dataset = "bench"', 'version = "v1"']
    for source_id, url, sha256 in sources:
        lines += ["[[sources]]", f'id = "{source_id}"', f'url = "{url}"', f'sha256 = "{sha256}"', 'license_spdx = "CC0-1.0"']
    return "\n".join(lines) + "\n"


def write_config(sources: list[tuple[str, str, str]], name: str = "corpus.toml") -> Path:
    path = DATA / "scratch" / name
    path.write_text(config_text(sources), encoding="utf-8")
    return path


def python() -> str:
    """The interpreter of bench/.venv, with what of requirements.txt can be installed."""
    interpreter = programs.VENV / "bin" / "python"
    if not interpreter.exists():
        subprocess.run([sys.executable, "-m", "venv", str(programs.VENV)], check=True)
    # Other benchmarks share the environment.
    for line in (HERE / "requirements.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            if subprocess.run([str(interpreter), "-m", "pip", "install", "--quiet", line], check=False).returncode:
                print(f"not installed: {line}", file=sys.stderr)
    return str(interpreter)


def importable(interpreter: str, package: str) -> bool:
    return subprocess.run([interpreter, "-c", f"import {package}"], capture_output=True, check=False).returncode == 0


def heading(interpreter: str) -> str:
    cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "")
    version = subprocess.run([interpreter, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    server = "nginx" if serve.program() else "a Python sendfile server"
    return f"{os.cpu_count()} CPUs, {cpu or platform.machine()}, {platform.system()} {platform.release()}; served by {server}; {version}."


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--download-mb", type=int, default=1000)
    parser.add_argument("--stage-mb", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", nargs="*", choices=["download", "stage", "rerun", "memory"])
    return parser.parse_args()


if __name__ == "__main__":
    main()
