"""CPU, wall time and memory of whole process trees, as the kernel counts them."""

import json
import os
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Run:
    """One run of a command: seconds of user and system time over all its processes, seconds, bytes of the largest."""

    cpu: float
    wall: float
    rss: int


def run(command: str, folder: Path, environment: dict[str, str]) -> Run:
    """Runs a shell command to success.

    A process is charged with the memory that its parent had when it was forked, so the command is started by a
    small process of its own: about 12 MB is the least that can be measured.
    """
    with open(folder / "stdout", "wb") as out, open(folder / "stderr", "wb") as err:
        launcher = subprocess.run(
            [sys.executable, "-S", "-E", __file__, command],
            cwd=folder, env=os.environ | environment, stdout=out, stderr=err, check=False,
        )  # fmt: skip
    if launcher.returncode != 0:
        raise SystemExit(f"`{command}` failed:\n{(folder / 'stderr').read_text(errors='replace')}")
    return Run(**json.loads((folder / "usage.json").read_text()))


def launch(command: str) -> int:
    """Runs the command; wait4 adds up the shell and every process that it waited for."""
    started = time.monotonic()
    child = os.posix_spawnp("bash", ["bash", "-euo", "pipefail", "-c", command], os.environ)
    _, status, usage = os.wait4(child, 0)
    told = {"cpu": usage.ru_utime + usage.ru_stime, "wall": time.monotonic() - started, "rss": usage.ru_maxrss * 1024}
    Path("usage.json").write_text(json.dumps(told))
    return os.waitstatus_to_exitcode(status)


def median(runs: list[Run], field: str) -> float:
    return statistics.median(getattr(one, field) for one in runs)


def spread(runs: list[Run], field: str) -> str:
    """`median (min..max)`."""
    values = [getattr(one, field) for one in runs]
    return f"{statistics.median(values):.2f} ({min(values):.2f}..{max(values):.2f})"


if __name__ == "__main__":
    sys.exit(launch(sys.argv[1]))
