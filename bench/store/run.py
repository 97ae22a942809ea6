#!/usr/bin/env python3
"""Measures store against the same files written the straightforward way, in turns.

    bench/store/run.py [--mb 200] [--rounds 5]

Needs `cargo build --release`. Prints Markdown.
"""

import argparse
import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "fetch")]

import measure
import programs
import synthetic

REPOSITORY = HERE.parents[1]
DATA = REPOSITORY / "bench" / "data" / "store"
CORPORA = programs.corpora()


def lines_of_prose(size: int) -> Path:
    """Synthetic JSON Lines whose texts have lines, as web text has."""
    path = DATA / f"{size}.jsonl"
    if not path.exists():
        flat = DATA / f"{size}.flat.jsonl"
        synthetic.write(flat, size)
        with flat.open(encoding="utf-8") as read, path.open("w", encoding="utf-8") as write:
            for line in read:
                words = json.loads(line)["text"].split(" ")
                rows = [" ".join(words[at : at + 15]) for at in range(0, len(words), 15)]
                write.write(json.dumps({"text": "\n".join(rows)}, ensure_ascii=False) + "\n")
        flat.unlink()
    return path


def prepare(size: int) -> Path:
    """Artifacts with the documents of one source."""
    source, artifacts = lines_of_prose(size), DATA / "artifacts"
    shutil.rmtree(artifacts, ignore_errors=True)
    digest = hashlib.sha256(source.read_bytes()).hexdigest()
    head = f'dataset = "bench"\nversion = "v1"\n[[sources]]\nid = "prose"\nurl = "{source.name}"\n'
    (DATA / "corpus.toml").write_text(f'{head}sha256 = "{digest}"\nlicense_spdx = "CC0-1.0"\n', encoding="utf-8")
    for stage in ["fetch", "extract"]:
        command = [CORPORA, "-q", stage, "--config", DATA / "corpus.toml", "--artifacts", artifacts]
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return artifacts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mb", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    DATA.mkdir(parents=True, exist_ok=True)
    artifacts, interpreter, out = prepare(asked.mb * 1_000_000), programs.python(HERE / "requirements.txt"), DATA / "straight"
    made = [artifacts / "corpus" / "datasets", artifacts / "corpus" / "store", out]
    documents = artifacts / "corpus" / "extract" / "bench" / "v1" / "prose"
    store = f"{CORPORA} -q store --config {DATA}/corpus.toml --artifacts {artifacts}"
    commands = {
        "corpora store": store,
        "corpora store --jobs 1": f"{store} --jobs 1",
        "pyarrow, zstandard, orjson, sqlite3": f"{interpreter} {HERE}/straight.py {documents} {out}",
        "zstd -3 -T1 of the texts, once": f"zstd -q -3 -T1 -c {lines_of_prose(asked.mb * 1_000_000)} > {DATA}/zst",
    }
    runs: dict[str, list[measure.Run]] = {name: [] for name in commands}
    for _ in range(asked.rounds):
        for name, command in commands.items():
            for folder in made:
                shutil.rmtree(folder, ignore_errors=True)
            runs[name].append(measure.run(command, DATA, {}))
    print(f"### Store, {asked.mb} MB of texts\n\n| what | CPU s, median (min..max) | wall s | peak MB |\n|---|---|---|---|")
    for name, of_name in runs.items():
        peak = max(one.rss for one in of_name) / 1e6
        print(f"| {name} | {measure.spread(of_name, 'cpu')} | {measure.spread(of_name, 'wall')} | {peak:.0f} |")


if __name__ == "__main__":
    main()
