"""The programs that benchmarks run: corpora as it is released, and a Python with what they compare it with."""

import os
import subprocess
import sys
from pathlib import Path

BENCH = Path(__file__).resolve().parent
VENV = BENCH / ".venv"


def corpora() -> Path:
    """$CORPORA_BIN, or the release build."""
    target = os.environ.get("CARGO_TARGET_DIR", BENCH.parent / "target")
    path = Path(os.environ.get("CORPORA_BIN", Path(target) / "release" / "corpora")).resolve()
    if not path.exists():
        sys.exit(f"there is no `{path}`: run `cargo build --release` first")
    return path


def python(requirements: Path) -> str:
    """The interpreter of bench/.venv, with what the file names."""
    interpreter = VENV / "bin" / "python"
    if not interpreter.exists():
        subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
    subprocess.run([interpreter, "-m", "pip", "install", "--quiet", "--requirement", requirements], check=True)
    return str(interpreter)
