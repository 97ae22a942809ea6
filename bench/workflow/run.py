#!/usr/bin/env python3
"""What a build costs on Temporal, against `corpora build` of the same sources, and where the difference goes.

    bench/workflow/run.py [--sources 100] [--documents 10] [--rounds 5] [--jobs N]

Needs `cargo build --release --workspace --bins`, and `temporal` on the PATH or in .venv. Four contenders take turns:

- build: `corpora build`, one process.
- by hand: the steps of the build's plan, each a process of its own as the worker would start it, without Temporal.
- workflow: `corpora-worker start --wait`, with a worker and a server for development.
- empty workflow: the same, with a program that does nothing in the place of `corpora`.

Prints Markdown, and writes every run to bench/data/workflow/results.json.
"""

import argparse
import hashlib
import json
import os
import platform
import shutil
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
DATA = REPOSITORY / "bench" / "data" / "workflow"
RELEASE = REPOSITORY / "target" / "release"
CORPORA, WORKER = RELEASE / "corpora", RELEASE / "corpora-worker"
TICKS = os.sysconf("SC_CLK_TCK")
EMPTY = """#!/bin/sh
[ "$1" = --version ] && exit
printf '%s\\n' "$*" >> '{log}'
echo '{{"stage":"'"$1"'","ok":true,"entries":[]}}'
"""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sources", type=int, default=100)
    parser.add_argument("--documents", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    asked = parser.parse_args()
    shutil.rmtree(DATA, ignore_errors=True)
    config = write_sources(DATA / "sources", asked.sources, asked.documents)
    print(f"{os.cpu_count()} CPUs, {processor()}, {platform.system()} {platform.release()}.", flush=True)
    print(f"{asked.sources} sources of {asked.documents} documents, {asked.rounds} rounds, {asked.jobs} steps at a time.")
    load = os.getloadavg()[0]
    with service(asked.jobs) as contenders:
        contenders |= {"build": lambda: measured([], lambda: build(config, asked.jobs)), "by hand": lambda: by_hand(config, asked.jobs)}
        order = ["build", "empty workflow", "by hand", "workflow"]
        runs: dict[str, list[dict]] = {name: [] for name in order}
        for _ in range(asked.rounds):
            for name in order:
                shutil.rmtree(DATA / "artifacts", ignore_errors=True)
                runs[name].append(contenders[name](config) if name.endswith("workflow") else contenders[name]())
    print(f"Load average (one minute) {load:.1f} before and {os.getloadavg()[0]:.1f} after.")
    (DATA / "results.json").write_text(json.dumps(runs, indent=1) + "\n", encoding="utf-8")
    table(runs)


def table(runs: dict[str, list[dict]]) -> None:
    """Wall time and CPU of each, and the steps' share of what a workflow takes longer."""
    steps = runs["workflow"][0]["steps"]
    print(f"\n{steps} steps.\n\n| what | wall s, median (min..max) | CPU s | of it the server's | wall ms a step |\n|---|---|---|---|---|")
    for name, all_runs in runs.items():
        wall = [run["wall"] for run in all_runs]
        cpu, server = (statistics.median(run[key] for run in all_runs) for key in ("cpu", "server_cpu"))
        middle = statistics.median(wall)
        print(f"| {name} | {middle:.2f} ({min(wall):.2f}..{max(wall):.2f}) | {cpu:.2f} | {server:.2f} | {middle / steps * 1000:.0f} |")
    of = {name: statistics.median(run["wall"] for run in all_runs) for name, all_runs in runs.items()}
    ratios = [one["wall"] / other["wall"] for one, other in zip(runs["workflow"], runs["build"], strict=True)]
    print(f"\nA workflow takes {statistics.median(ratios):.1f} ({min(ratios):.1f}..{max(ratios):.1f}) times as long as a build:")
    print(f"{(of['workflow'] - of['build']) / steps * 1000:.0f} ms a step more. Steps as processes alone cost")
    print(f"{(of['by hand'] - of['build']) / steps * 1000:.0f} ms a step more than a build, an empty workflow takes")
    print(f"{of['empty workflow'] / steps * 1000:.0f} ms a step.")


def build(config: Path, jobs: int) -> int:
    run([CORPORA, "build", "--config", config, "--artifacts", DATA / "artifacts", "--jobs", str(jobs), "-q"])
    return 0


def by_hand(config: Path, jobs: int) -> dict:
    """The steps that the empty workflow noted, stage by stage as in the plan."""
    words = (DATA / "steps.log").read_text(encoding="utf-8").splitlines()
    steps = [line[: line.index(" --spec")].split(" ") for line in words]
    spec = next((DATA / "empty" / "activities").glob("*/*/plan/spec.json"))
    rank = ["fetch", "extract", "store", "verify-ledger"].index

    def level(step: list[str]) -> tuple[int, bool]:
        return rank(step[0]), "--source" not in step

    def one(numbered: tuple[int, list[str]]) -> None:
        number, step = numbered
        folder = DATA / "artifacts" / "activities" / "by-hand" / "1" / str(number)
        folder.mkdir(parents=True)
        os.link(spec, folder / "spec.json")
        files = ["--spec", folder / "spec.json", "--progress", folder / "progress.jsonl", "--artifacts", DATA / "artifacts"]
        key = {"CORPORA_IDEMPOTENCY_KEY": f"by-hand/1/{number}", "CORPORA_ATTEMPT": "1"}
        run([CORPORA, *step, *files], key)

    def walk() -> int:
        with ThreadPoolExecutor(jobs) as pool:
            for _, steps_of_level in groupby(sorted(enumerate(steps), key=lambda step: level(step[1])), lambda step: level(step[1])):
                list(pool.map(one, steps_of_level))
        return len(steps)

    return measured([], walk)


@contextmanager
def service(jobs: int) -> Iterator[dict[str, Callable]]:
    """A server, a worker, and one whose program does nothing."""
    DATA.mkdir(parents=True, exist_ok=True)
    empty = DATA / "empty-program"
    empty.write_text(EMPTY.format(log=DATA / "steps.log"), encoding="utf-8")
    empty.chmod(0o755)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {"TEMPORAL_ADDRESS": f"127.0.0.1:{port}"}
    temporal = shutil.which("temporal") or REPOSITORY / ".venv" / "bin" / "temporal"
    log = (DATA / "log").open("wb")
    server = subprocess.Popen(
        [temporal, "server", "start-dev", "--headless", "--ip", "127.0.0.1", "--port", str(port), "--log-level", "never"],
        stdout=log, stderr=log,
    )  # fmt: skip
    processes = [server]
    try:
        while subprocess.run([temporal, "operator", "cluster", "health", "--address", f"127.0.0.1:{port}"], capture_output=True, check=False).returncode:
            time.sleep(0.1)

        def workflow(queue: str, artifacts: str, worker: subprocess.Popen, config: Path) -> dict:
            shutil.rmtree(DATA / artifacts, ignore_errors=True)
            if queue == "empty":
                (DATA / "steps.log").unlink(missing_ok=True)
            command = [WORKER, "-q", "start", "--wait", "--config", config, "--artifacts", DATA / artifacts, "--task-queue", queue]

            def start() -> int:
                return len(json.loads(run(command, environment).splitlines()[-1])["steps"])

            return measured([server, worker], start)

        contenders: dict[str, Callable] = {}
        for name, queue, artifacts, program in (("workflow", "bench", "artifacts", CORPORA), ("empty workflow", "empty", "empty", empty)):
            command = [WORKER, "-q", "run", "--task-queue", queue, "--program", program, "--jobs", str(jobs)]
            worker = subprocess.Popen(command, env=os.environ | environment, stdout=log, stderr=log)
            processes.append(worker)
            contenders[name] = lambda config, queue=queue, artifacts=artifacts, worker=worker: workflow(queue, artifacts, worker, config)
        yield contenders
    finally:
        for process in reversed(processes):
            process.terminate()
            process.wait()


def measured(others: list[subprocess.Popen], work: Callable[[], int]) -> dict:
    """Seconds, and seconds of CPU of what was started here and of the other processes with their children."""
    own, before = os.times(), [ticks(other.pid) for other in others]
    started = time.monotonic()
    steps = work()
    wall = time.monotonic() - started
    after, spent = os.times(), [ticks(other.pid) - earlier for other, earlier in zip(others, before, strict=True)]
    children = after.children_user + after.children_system - own.children_user - own.children_system
    return {"wall": wall, "cpu": children + sum(spent), "server_cpu": spent[0] if spent else 0.0, "steps": steps}


def ticks(process: int) -> float:
    """User and system time of a process and of its children that have ended, proc_pid_stat(5)."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
    return sum(int(field) for field in fields[11:15]) / TICKS


def run(command: list, environment: dict[str, str] | None = None) -> str:
    done = subprocess.run(command, env=os.environ | (environment or {}), capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{command} ended with {done.returncode}:\n{done.stderr}")
    return done.stdout


def write_sources(folder: Path, sources: int, documents: int) -> Path:
    folder.mkdir(parents=True)
    lines = ['dataset = "bench"', 'version = "v1"']
    for source in range(sources):
        texts = (f"Document {number} of source {source}, which is short and says so." for number in range(documents))
        body = "".join(json.dumps({"text": text}) + "\n" for text in texts).encode()
        (folder / f"s{source}.jsonl").write_bytes(body)
        lines += ["[[sources]]", f'id = "s{source}"', f'url = "s{source}.jsonl"', f'sha256 = "{hashlib.sha256(body).hexdigest()}"']
        lines += ['license_spdx = "CC0-1.0"']
    config = folder / "corpus.toml"
    config.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return config


def processor() -> str:
    names = [line for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines() if line.startswith("model name")]
    return names[0].split(":")[1].strip() if names else platform.machine()


if __name__ == "__main__":
    sys.exit(main())
