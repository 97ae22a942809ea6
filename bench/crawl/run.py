#!/usr/bin/env python3
"""Measures a crawl of one generated site, links only, against Scrapy and the crate spider.

    bench/crawl/run.py [--pages 1000] [--rounds 5] [--only NAME…]

Needs `cargo build --release` and nginx. Contenders take turns (A B C A B C …). After each run the server's access log is read: every
page once, nothing that robots.txt refuses. Prints Markdown, and writes every run to bench/data/crawl/results.json.
"""

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "fetch")]

import measure
import pages
import programs
import serve

DATA = HERE.parents[1] / "bench" / "data" / "crawl"
MB = 1_000_000
LISTEN = "access_log off;"


def main() -> None:
    asked = arguments()
    folder, scratch = DATA / f"site-{asked.pages}", DATA / "scratch"
    for made in (folder, scratch):
        made.mkdir(parents=True, exist_ok=True)
    pages.make(folder, asked.pages)
    expected = {pages.url(page) for page in range(asked.pages)}
    runs: dict[str, list[measure.Run]] = {name: [] for name in asked.only or CONTENDERS}
    before = os.getloadavg()[0]
    for _round in range(asked.rounds):
        for name in runs:
            with logged(folder, scratch) as (origin, log):
                shutil.rmtree(DATA / "run", ignore_errors=True)
                (DATA / "run").mkdir()
                command = CONTENDERS[name](origin, DATA / "run")
                runs[name].append(measure.run(command, DATA / "run", {}))
                judge(name, log, expected)
    print(f"{os.cpu_count()} CPUs, {platform.system()} {platform.release()}; {asked.pages} pages, {asked.rounds} rounds.")
    report(runs, asked.pages)
    print(f"\nLoad average (one minute) {before:.1f} before and {os.getloadavg()[0]:.1f} after.")
    told = {name: [asdict(run) for run in of_name] for name, of_name in runs.items()}
    (DATA / "results.json").write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


def corpora(origin: str, folder: Path) -> str:
    return of_corpora(origin, folder, "fetch")


def corpora_build(origin: str, folder: Path) -> str:
    """With extraction, store and verification: what the others do not do."""
    return of_corpora(origin, folder, "build")


def of_corpora(origin: str, folder: Path, verb: str) -> str:
    host = origin.removeprefix("http://").split(":")[0]
    config = folder / "corpus.toml"
    config.write_text(
        f"""dataset = "bench"
version = "v1"

[[crawls]]
id = "site"
seed_urls = ["{origin}/"]
allowed_domains = ["{host}"]
max_depth = 100
max_pages = 1000000
user_agent = "corpora-bench/1.0"
license_spdx = "CC-BY-4.0"
delay = 0
per_host = 16
respect_rights = false
allow_private_networks = true
""",
        encoding="utf-8",
    )
    return f"{programs.corpora()} {verb} --config {config} --artifacts {folder / 'artifacts'} -q"


def spider(origin: str, folder: Path) -> str:
    target = Path(os.environ.get("CARGO_TARGET_DIR", HERE / "spider" / "target"))
    program = Path(os.environ.get("SPIDER_BIN", target / "release" / "corpora-bench-spider"))
    if not program.exists():
        subprocess.run(["cargo", "build", "--release"], cwd=HERE / "spider", check=True)
    return f"{program} {origin}/ {folder / 'bodies'}"


def scrapy(origin: str, folder: Path) -> str:
    python = programs.python(HERE / "requirements.txt")
    return f"{python} -m scrapy runspider {HERE / 'links.py'} -a url={origin}/ -a file={folder / 'bodies'}"


CONTENDERS = {"corpora fetch": corpora, "spider": spider, "Scrapy": scrapy, "corpora build": corpora_build}


@contextmanager
def logged(folder: Path, scratch: Path):
    """The site served with a log of what was asked for."""
    log = scratch / "access.log"
    log.unlink(missing_ok=True)
    conf = serve.NGINX
    serve.NGINX = conf.replace(LISTEN, f"access_log {log};").replace("default_type application/octet-stream", "default_type text/html")
    serve.NGINX = serve.NGINX.replace("worker_connections 64", "worker_connections 512")
    try:
        with serve.serve(folder, scratch) as origin:
            yield origin, log
    finally:
        serve.NGINX = conf


def judge(name: str, log: Path, expected: set[str]) -> None:
    """Each page was asked for once, and nothing that is refused."""
    time.sleep(0.2)  # The server writes its log behind the answer.
    asked = Counter(line.split('"')[1].split(" ")[1] for line in log.read_text().splitlines())
    refused = [path for path in asked if path.startswith("/private/")]
    missing = expected - set(asked)
    twice = [path for path, count in asked.items() if count > 1 and path in expected]
    if refused or missing or twice:
        print(f"{name}: {len(refused)} refused pages asked for, {len(missing)} missing, {len(twice)} more than once", flush=True)


def report(runs: dict[str, list[measure.Run]], count: int) -> None:
    print("\n| what | CPU ms a page, median (min..max) | wall s | peak MB |\n|---|---|---|---|")
    for name, of_name in runs.items():
        values = sorted(1000 * one.cpu / count for one in of_name)
        cpu = f"{1000 * measure.median(of_name, 'cpu') / count:.2f} ({values[0]:.2f}..{values[-1]:.2f})"
        peak = max(one.rss for one in of_name) / MB
        print(f"| {name} | {cpu} | {measure.spread(of_name, 'wall')} | {peak:.0f} |")
    own = runs.get("corpora fetch")
    for name, bound in (("spider", 1.5), ("Scrapy", 0.1)):
        if own and name in runs:
            ratio = measure.median(own, "cpu") / measure.median(runs[name], "cpu")
            print(f"\ncorpora fetch takes {ratio:.2f} × the CPU of {name}; the target is {bound} ×.")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pages", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", nargs="*", choices=list(CONTENDERS))
    return parser.parse_args()


if __name__ == "__main__":
    main()
