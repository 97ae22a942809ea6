#!/usr/bin/env python3
"""What stands in the shards of a dataset folder, in one line: rows, and digests of the columns that both pipelines make.

    rows.py FOLDER

`lang` is left out: the straight version has no second opinion. `id` is left in and tells the order.
"""

import hashlib
import sys
from pathlib import Path

import pyarrow.parquet

COLUMNS = ["id", "text", "source_id", "url", "license_spdx", "title", "n_chars", "sha256", "split"]

if __name__ == "__main__":
    count, digests = 0, {name: hashlib.sha256() for name in COLUMNS}
    for path in sorted(Path(sys.argv[1]).glob("*.parquet")):
        table = pyarrow.parquet.read_table(path, columns=COLUMNS)
        count += table.num_rows
        for name in COLUMNS:
            for value in table.column(name).to_pylist():
                digests[name].update(value if isinstance(value, bytes) else f"{value}\n".encode())
    print(f"{count} rows; " + ", ".join(f"{name} {digest.hexdigest()[:12]}" for name, digest in digests.items()))
