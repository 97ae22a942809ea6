"""Runs the binary under test and finds what it wrote."""

import hashlib
import json
import os
import subprocess
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
QUICKSTART = REPOSITORY / "examples" / "quickstart"
BINARY = os.environ.get("CORPORA_BIN", str(REPOSITORY / "target" / "debug" / "corpora"))


def fetch(config: Path, artifacts: Path, *flags: str) -> dict:
    """Fetches and returns the result that stands on the last line of stdout."""
    return run("fetch", "--config", str(config), "--artifacts", str(artifacts), *flags)


def run(*arguments: str, **environment: str) -> dict:
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("CORPORA_")}
    done = subprocess.run(
        [BINARY, *arguments], env=inherited | environment, capture_output=True, text=True, timeout=120, check=False
    )
    if done.returncode != 0:
        raise AssertionError(f"{arguments}: exit code {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def write_config(folder: Path, sources: dict[str, tuple[str, bytes, str]]) -> Path:
    """Writes `id: (url, bytes, format)` as a config into `folder`."""
    lines = ['dataset = "readers"', 'version = "v1"']
    for source_id, (url, data, form) in sources.items():
        digest = hashlib.sha256(data).hexdigest()
        lines += ["[[sources]]", f'id = "{source_id}"', f'url = "{url}"', f'sha256 = "{digest}"']
        lines += ['license_spdx = "CC0-1.0"', f'format = "{form}"']
    config = folder / "corpus.toml"
    config.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return config


def parts(artifacts: Path, source_id: str) -> list[Path]:
    """The raw parts of a source, in order."""
    return sorted((artifacts / "corpus" / "raw" / source_id).glob("*/part-*.jsonl.zst"))


def receipts(artifacts: Path) -> list[dict]:
    files = sorted((artifacts / "corpus" / "receipts").glob("*/*.json"))
    return [json.loads(file.read_text(encoding="utf-8")) for file in files]


def ledger(artifacts: Path) -> list[dict]:
    text = (artifacts / "corpus" / "LEDGER.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]
