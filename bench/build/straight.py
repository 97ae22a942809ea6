#!/usr/bin/env python3
"""The whole build written the straightforward way, in one pass and one process: orjson, zstandard, pyarrow.

    straight.py CONFIG FOLDER [--same]

Checks each source's sha256, normalises its texts by the rules of `corpora extract`, and writes documents as zstd JSON
Lines, shards as Parquet and as .jsonl.zst split by the digest of the text, and a manifest with digests, counts and exact
duplicates. With `--same` also what a corpora build has beyond that: raw parts, the language, and metadata.sqlite.

It does without what is read back and checked between stages (strict JSON, digests of parts and shards read again), syncs,
receipts, ledger, terms, locks, stage records, resume, and memory that is bounded for the duplicates.
"""

import hashlib
import re
import sqlite3
import sys
import time
import tomllib
import unicodedata
from pathlib import Path

import orjson
import pyarrow
import pyarrow.parquet
import zstandard

PART_DOCS, SHARD_ROWS, GROUP_ROWS, VAL_PERMILLE, SAMPLE, SURE = 100_000, 100_000, 3_500, 5, 600, 0.3
LINE_ENDS = re.compile("\r\n|[\r\v\f\x85\u2028\u2029]")
DROPPED = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ufeff]")
BLANK_LINES = re.compile("\n{3,}")
STRINGS = ["id", "text", "source_id", "url", "license_spdx", "lang", "title"]
SCHEMA = pyarrow.schema(
    [(name, pyarrow.string()) for name in STRINGS]
    + [("n_chars", pyarrow.int32()), ("sha256", pyarrow.binary(32)), ("split", pyarrow.string())]
)
TABLE = "CREATE TABLE documents (id TEXT PRIMARY KEY, source_id, url, domain, lang, n_chars, sha256, shard, row, split)"


def main(config: Path, folder: Path, same: bool) -> None:
    wanted = tomllib.loads(config.read_text(encoding="utf-8"))
    (folder / "jsonl").mkdir(parents=True)
    table = Table(folder / "metadata.sqlite") if same else None
    splits = {split: Shards(folder, split) for split in ("train", "val")}
    seen: set[bytes] = set()
    manifest = {"dataset": wanted["dataset"], "version": wanted["version"], "sources": {}, "duplicates": 0}
    for source in wanted["sources"]:
        path = config.parent / source["url"]
        if sha256_file(path) != source["sha256"]:
            raise SystemExit(f"the digest of `{path}` is not the pinned one")
        count = 0
        for document in documents(path, source, folder, same):
            digest = hashlib.sha256(document["text"].encode()).digest()
            manifest["duplicates"] += digest in seen
            seen.add(digest)
            split = "val" if int.from_bytes(digest[:8], "big") % 1000 < VAL_PERMILLE else "train"
            row = {name: document[name] for name in STRINGS}
            row |= {"n_chars": len(row["text"]), "sha256": digest, "split": split}
            shard = splits[split].add(row)
            if table:
                table.add(row, shard)
            count += 1
        manifest["sources"][source["id"]] = count
    if table:
        table.close()
    manifest["shards"] = [told for shards in splits.values() for told in shards.finish()]
    (folder / "_MANIFEST.json").write_bytes(orjson.dumps(manifest, option=orjson.OPT_INDENT_2))


def documents(path: Path, source: dict, folder: Path, same: bool):
    """The documents of a source, written to parts on the way."""
    raw = Parts(folder / "raw" / source["id"]) if same else None
    parts = Parts(folder / "documents" / source["id"])
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    with path.open("rb") as file:
        position = 0
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            text = orjson.loads(line)["text"]
            of_source = {"url": f"{source['url']}#{number}", "fetched_at": now, "license_spdx": source["license_spdx"]}
            if raw:
                raw.add(of_source | {"text": text})
            text = normalize(text)
            lang = language(text) if same else "und"
            document = {"id": f"{source['id']}:{position}", "source_id": source["id"]} | of_source
            document |= {"lang": lang, "title": "", "text": text, "meta": {}}
            parts.add(document)
            yield document
            position += 1
    parts.close()
    if raw:
        raw.close()


def normalize(text: str) -> str:
    text = DROPPED.sub("", LINE_ENDS.sub("\n", text))
    text = unicodedata.normalize("NFC", text)
    text = "\n".join([line.rstrip() for line in text.split("\n")])
    return BLANK_LINES.sub("\n\n", text).strip("\n")


def language(text: str) -> str:
    """The first opinion of `corpora extract`, on a sample as large: the start, the middle and the end of the text."""
    from pywhatlang import detect_lang

    if len(text) > SAMPLE:
        third, middle = SAMPLE // 3, (len(text) - SAMPLE // 3) // 2
        text = "\n".join([text[:third], text[middle : middle + third], text[-third:]])
    code, confidence, _ = detect_lang(text)  # every synthetic text has letters; without any it panics
    return code if confidence >= SURE else "und"


def sha256_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def compressed(path: Path):
    return zstandard.ZstdCompressor(level=3, write_checksum=True).stream_writer(path.open("wb"))


class Parts:
    """JSON Lines in parts of at most `PART_DOCS` documents."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True)
        self.folder, self.count, self.part = folder, 0, None

    def add(self, document: dict) -> None:
        if self.count % PART_DOCS == 0:
            self.close()
            self.part = compressed(self.folder / f"part-{self.count // PART_DOCS:05}.jsonl.zst")
        self.part.write(orjson.dumps(document, option=orjson.OPT_APPEND_NEWLINE))
        self.count += 1

    def close(self) -> None:
        if self.part:
            self.part.close()


class Shards:
    """The shards of one split, each as Parquet and as .jsonl.zst."""

    def __init__(self, folder: Path, split: str) -> None:
        self.folder, self.split, self.rows, self.group, self.parquet = folder, split, [], [], None

    def add(self, row: dict) -> tuple[int, int]:
        """Where the row stands: the number of its shard, and its place there."""
        if self.parquet is None:
            self.open()
        self.group.append(row)
        place = (len(self.rows) - 1, self.rows[-1])
        self.rows[-1] += 1
        self.jsonl.write(orjson.dumps(row | {"sha256": row["sha256"].hex()}, option=orjson.OPT_APPEND_NEWLINE))
        if len(self.group) == GROUP_ROWS:
            self.flush()
        if self.rows[-1] == SHARD_ROWS:
            self.close()
        return place

    def open(self) -> None:
        name = f"{self.split}-{len(self.rows):05}"
        self.rows.append(0)
        self.parquet = pyarrow.parquet.ParquetWriter(
            self.folder / f"{name}.parquet", SCHEMA, compression="zstd", compression_level=3,
            use_dictionary=["source_id", "license_spdx", "lang", "split"], write_statistics=["id", "n_chars"],
        )  # fmt: skip
        self.jsonl = compressed(self.folder / "jsonl" / f"{name}.jsonl.zst")

    def flush(self) -> None:
        if self.group:
            self.parquet.write_table(pyarrow.Table.from_pylist(self.group, schema=SCHEMA))
            self.group = []

    def close(self) -> None:
        if self.parquet is not None:
            self.flush()
            self.parquet.close()
            self.jsonl.close()
            self.parquet = None

    def finish(self) -> list[dict]:
        """Names that say how many there are, and what the manifest says of each file."""
        self.close()
        told = []
        for number, rows in enumerate(self.rows):
            for place, suffix in ((self.folder, "parquet"), (self.folder / "jsonl", "jsonl.zst")):
                name = f"{self.split}-{number:05}-of-{len(self.rows):05}.{suffix}"
                path = (place / f"{self.split}-{number:05}.{suffix}").rename(place / name)
                told.append({"name": str(path.relative_to(self.folder)), "sha256": sha256_file(path), "rows": rows})
        return told


class Table:
    """metadata.sqlite."""

    def __init__(self, path: Path) -> None:
        self.connection, self.entries = sqlite3.connect(path), []
        self.connection.executescript(f"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; {TABLE}")

    def add(self, row: dict, place: tuple[int, int]) -> None:
        self.entries.append((row["id"], row["source_id"], row["url"], "", row["lang"], row["n_chars"], row["sha256"], *place, row["split"]))
        if len(self.entries) == GROUP_ROWS:
            self.flush()

    def flush(self) -> None:
        self.connection.executemany("INSERT INTO documents VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", self.entries)
        self.entries = []

    def close(self) -> None:
        self.flush()
        for column in ["source_id", "domain", "lang", "sha256"]:
            self.connection.execute(f"CREATE INDEX documents_{column} ON documents ({column})")
        self.connection.commit()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), "--same" in sys.argv[3:])
