#!/usr/bin/env python3
"""Fails unless every line of a coverage report was reached, or stands in a list with its reason.

    coverage.py REPORT.json UNCOVERED.txt

REPORT.json is what `cargo tarpaulin --out json` writes. A line of UNCOVERED.txt is `path | the line | why`; one that
names no unreached line is out of date, and fails too.
"""

import json
import sys
from pathlib import Path


def unreached(report: dict, root: Path) -> list[tuple[str, int, str]]:
    """Path, number and text of every line that can be reached and was not."""
    lines = []
    for file in report["files"]:
        path = Path(*file["path"])
        source = path.read_text(encoding="utf-8").splitlines()
        for trace in file["traces"]:
            if trace["stats"].get("Line") == 0:
                text = source[trace["line"] - 1].strip()
                lines.append((path.relative_to(root).as_posix(), trace["line"], text))
    return lines


def reasons(text: str) -> dict[tuple[str, str], str]:
    """The listed lines: (path, line) to reason."""
    listed = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.startswith("#"):
            continue
        fields = [field.strip() for field in line.split(" | ")]
        if len(fields) < 3 or not all(fields):
            sys.exit(f"line {number} of the list is not `path | the line | why`")
        # The line itself may be of alternatives.
        listed[fields[0], " | ".join(fields[1:-1])] = fields[-1]
    return listed


def main(report_path: str, list_path: str) -> int:
    report = json.loads(Path(report_path).read_text(encoding="utf-8"))
    listed = reasons(Path(list_path).read_text(encoding="utf-8"))
    missing = unreached(report, Path.cwd())
    without_reason = [line for line in missing if (line[0], line[2]) not in listed]
    out_of_date = set(listed) - {(path, text) for path, _, text in missing}
    for path, number, text in without_reason:
        print(f"{path}:{number}: not reached by any test: {text}")
    for path, text in sorted(out_of_date):
        print(f"{list_path}: {path}: no unreached line reads `{text}`")
    lines = sum(file["coverable"] for file in report["files"])
    print(f"{lines - len(missing)} of {lines} lines reached, {len(missing) - len(without_reason)} listed with a reason")
    return 1 if without_reason or out_of_date or not lines else 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
