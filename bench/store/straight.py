#!/usr/bin/env python3
"""What store makes, written the straightforward way: pyarrow, zstandard, orjson and sqlite3.

    straight.py DOCUMENTS OUT        documents of one source as extract leaves them, an empty folder

The same columns, splits, shards, row groups, compression and tables. It does without syncs, digests of the files, checks
of the terms, bounded memory for the duplicates, and a manifest.
"""

import hashlib
import io
import sqlite3
import sys
from pathlib import Path

import orjson
import pyarrow
import pyarrow.parquet
import zstandard

SHARD_ROWS, GROUP_ROWS, VAL_PERMILLE = 100_000, 3_500, 5  # about as many rows a group as store has of these documents
STRINGS = ["id", "text", "source_id", "url", "license_spdx", "lang", "title"]
SCHEMA = pyarrow.schema(
    [(name, pyarrow.string()) for name in STRINGS]
    + [("n_chars", pyarrow.int32()), ("sha256", pyarrow.binary(32)), ("split", pyarrow.string())]
)
TABLE = "CREATE TABLE documents (id TEXT PRIMARY KEY, source_id, url, domain, lang, n_chars, sha256, shard, row, split)"


class Shards:
    """The shards of one split."""

    def __init__(self, out: Path, split: str) -> None:
        self.out, self.split, self.shard, self.rows, self.group, self.parquet = out, split, 0, 0, [], None

    def add(self, row: dict) -> None:
        if self.parquet is None:
            self.open()
        self.group.append(row)
        self.rows += 1
        self.jsonl.write(orjson.dumps(row | {"sha256": row["sha256"].hex()}, option=orjson.OPT_APPEND_NEWLINE))
        if len(self.group) == GROUP_ROWS:
            self.flush()
        if self.rows == SHARD_ROWS:
            self.close()

    def open(self) -> None:
        name = f"{self.split}-{self.shard:05}"
        self.parquet = pyarrow.parquet.ParquetWriter(
            self.out / f"{name}.parquet", SCHEMA, compression="zstd", compression_level=3,
            use_dictionary=["source_id", "license_spdx", "lang", "split"], write_statistics=["id", "n_chars"],
        )  # fmt: skip
        file = (self.out / "jsonl" / f"{name}.jsonl.zst").open("wb")
        self.jsonl = zstandard.ZstdCompressor(level=3, write_checksum=True).stream_writer(file)

    def flush(self) -> None:
        if self.group:
            self.parquet.write_table(pyarrow.Table.from_pylist(self.group, schema=SCHEMA))
            self.group = []

    def close(self) -> None:
        if self.parquet is not None:
            self.flush()
            self.parquet.close()
            self.jsonl.close()
            self.shard, self.rows, self.parquet = self.shard + 1, 0, None


def main(documents: Path, out: Path) -> None:
    (out / "jsonl").mkdir(parents=True)
    splits = {split: Shards(out, split) for split in ("train", "val")}
    table = sqlite3.connect(out / "metadata.sqlite")
    table.executescript(f"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; {TABLE}")
    seen, duplicates, entries = set(), 0, []
    for part in sorted(documents.glob("part-*.jsonl.zst")):
        with part.open("rb") as file:
            for line in io.BufferedReader(zstandard.ZstdDecompressor().stream_reader(file), 1 << 20):
                document = orjson.loads(line)
                digest = hashlib.sha256(document["text"].encode()).digest()
                duplicates += digest in seen
                seen.add(digest)
                split = "val" if int.from_bytes(digest[:8], "big") % 1000 < VAL_PERMILLE else "train"
                shards = splits[split]
                row = {name: document[name] for name in STRINGS}
                row |= {"n_chars": len(row["text"]), "sha256": digest, "split": split}
                domain = row["url"].split("/", 3)[2] if "://" in row["url"] else ""
                place = (shards.shard, shards.rows, split)
                entries.append((row["id"], row["source_id"], row["url"], domain, row["lang"], row["n_chars"], digest, *place))
                shards.add(row)
            table.executemany("INSERT INTO documents VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", entries)
            entries = []
    for column in ["source_id", "domain", "lang", "sha256"]:
        table.execute(f"CREATE INDEX documents_{column} ON documents ({column})")
    table.commit()
    for shards in splits.values():
        shards.close()
    print(f"{len(seen)} distinct texts, {duplicates} duplicates")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
