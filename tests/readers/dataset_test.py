"""What store wrote, opened with the tools that its users have: pyarrow, DuckDB, Polars, datasets, zstandard, sqlite3."""

import hashlib
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import duckdb
import jsonschema
import polars
import pyarrow
import pyarrow.parquet
import zstandard

import corpora

COLUMNS = ["id", "text", "source_id", "url", "license_spdx", "lang", "title", "n_chars", "sha256", "split"]
NASTY = ["one", "two\nlines", 'quotes " and \\', "tab\there", "U+2028\u2028 here", "naïve 日本語 😀", "one"]
SHARD_ROWS, VAL_PERMILLE = 300, 100

# Prints what `datasets` makes of a folder. A process of its own, since it warns of its own dependencies.
LOAD = """
import json, sys, datasets
datasets.disable_progress_bars()
folder = sys.argv[1]
whole = datasets.load_dataset(folder)
streamed = datasets.load_dataset(folder, streaming=True)
row = lambda row: row | {"sha256": row["sha256"].hex() if isinstance(row["sha256"], bytes) else row["sha256"]}
same = all([row(one) for one in streamed[name]] == [row(one) for one in whole[name]] for name in whole)
print(json.dumps({"same": same, "rows": {name: [row(one) for one in split] for name, split in whole.items()}}))
"""


def read_lines(path: Path) -> list[str]:
    """The lines of one zstd frame: `zstandard` reads no further than the first."""
    with zstandard.open(path, "rt", encoding="utf-8", newline="\n") as file:
        return list(file)


def expected_row(document: dict) -> dict:
    """The row of a document, worked out from the contract."""
    digest = hashlib.sha256(document["text"].encode())
    held_out = int.from_bytes(digest.digest()[:8], "big") % 1000 < VAL_PERMILLE
    made = {"n_chars": len(document["text"]), "sha256": digest.hexdigest(), "split": "val" if held_out else "train"}
    return {column: made[column] if column in made else document[column] for column in COLUMNS}


class Datasets(unittest.TestCase):
    """One dataset of two sources in several shards of both splits."""

    @classmethod
    def setUpClass(cls) -> None:
        cls.scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.scratch.cleanup)
        scratch = Path(cls.scratch.name)
        many = [f"document {number} of many" for number in range(1000)]
        sources = {}
        for name, texts in {"nasty": NASTY, "many": many}.items():
            data = "".join(json.dumps({"text": text}) + "\n" for text in texts).encode()
            (scratch / f"{name}.jsonl").write_bytes(data)
            sources[name] = (f"{name}.jsonl", data, "jsonl")
        config = corpora.write_config(scratch, sources)
        with config.open("a", encoding="utf-8") as file:
            file.write(f"[store]\nshard_rows = {SHARD_ROWS}\nval_permille = {VAL_PERMILLE}\n")
        artifacts = scratch / "artifacts"
        for stage in ["fetch", "extract", "store"]:
            cls.result = corpora.run(stage, "--config", str(config), "--artifacts", str(artifacts))
        cls.folder = artifacts / cls.result["entries"][0]["path"]
        cls.manifest = json.loads((cls.folder / "_MANIFEST.json").read_text(encoding="utf-8"))
        extracted = artifacts / "corpus" / "extract" / "readers" / "v1"
        parts = [part for name in sources for part in sorted((extracted / name).glob("part-*.jsonl.zst"))]
        cls.rows = [expected_row(json.loads(line)) for part in parts for line in read_lines(part)]

    def expected(self, split: str) -> list[dict]:
        return [row for row in self.rows if row["split"] == split]

    def shards(self, pattern: str) -> list[Path]:
        found = sorted(self.folder.glob(pattern))
        self.assertGreater(len(found), 0, pattern)
        return found

    def test_the_dataset_has_several_shards_of_both_splits(self) -> None:
        self.assertEqual(len(self.rows), 1007)
        self.assertEqual(self.result["entries"][0]["n_docs"], 1007)
        self.assertGreater(len(self.shards("train-*.parquet")), 2)
        self.assertEqual([shard.name for shard in self.shards("val-*.parquet")], ["val-00000-of-00001.parquet"])

    def test_the_manifest_says_what_is_there(self) -> None:
        schema = corpora.REPOSITORY / "contracts" / "schemas" / "manifest.schema.json"
        cls = jsonschema.Draft202012Validator
        jsonschema.validate(self.manifest, json.loads(schema.read_text(encoding="utf-8")), cls=cls)
        for shard in self.manifest["shards"]:
            data = (self.folder / shard["name"]).read_bytes()
            self.assertEqual((hashlib.sha256(data).hexdigest(), len(data)), (shard["sha256"], shard["bytes"]))
        found = {str(path.relative_to(self.folder)) for path in self.folder.rglob("*-of-*")}
        self.assertEqual(found, {shard["name"] for shard in self.manifest["shards"]})
        self.assertEqual(self.manifest["n_docs"], len(self.rows))
        self.assertEqual(self.manifest["exact_duplicates"], len(self.rows) - len({row["text"] for row in self.rows}))
        self.assertEqual((self.folder / "ledger.jsonl").read_text(encoding="utf-8").count("\n"), 2)

    def test_pyarrow_reads_the_promised_columns(self) -> None:
        types = dict.fromkeys(COLUMNS, pyarrow.string())
        types |= {"n_chars": pyarrow.int32(), "sha256": pyarrow.binary(32)}
        schema = pyarrow.schema([pyarrow.field(name, types[name], nullable=False) for name in COLUMNS])
        for split in ["train", "val"]:
            rows = []
            for shard in self.shards(f"{split}-*.parquet"):
                table = pyarrow.parquet.ParquetFile(shard).read()
                table.validate(full=True)
                self.assertEqual(table.schema, schema)
                rows += [row | {"sha256": row["sha256"].hex()} for row in table.to_pylist()]
            self.assertEqual(rows, self.expected(split))

    def test_pyarrow_finds_pages_compressed_and_nothing_of_the_machine(self) -> None:
        for shard in self.shards("*.parquet"):
            metadata = pyarrow.parquet.read_metadata(shard)
            self.assertRegex(metadata.created_by, r"^corpora version \d+\.\d+\.\d+$")
            self.assertIsNone(metadata.metadata)
            group = metadata.row_group(0)
            chunks = {group.column(index).path_in_schema: group.column(index) for index in range(len(COLUMNS))}
            self.assertEqual({chunk.compression for chunk in chunks.values()}, {"ZSTD"})
            with_dictionary = {name for name, chunk in chunks.items() if chunk.has_dictionary_page}
            self.assertEqual(with_dictionary, {"source_id", "license_spdx", "lang", "split"})
            self.assertFalse(chunks["text"].is_stats_set)
            lowest = chunks["n_chars"].statistics.min
            self.assertEqual(lowest, min(pyarrow.parquet.read_table(shard, columns=["n_chars"])["n_chars"].to_pylist()))

    def test_duckdb_reads_both_formats(self) -> None:
        wanted = [(row["split"], row["id"], row["text"], row["n_chars"]) for row in self.rows]
        for files in ["*.parquet", "jsonl/*.jsonl.zst"]:
            query = f"SELECT split, id, text, n_chars FROM '{self.folder}/{files}'"
            self.assertEqual(sorted(duckdb.sql(query).fetchall()), sorted(wanted), files)
        query = f"SELECT count(*) FROM '{self.folder}/*.parquet' WHERE source_id = 'nasty' AND n_chars > 3"
        self.assertEqual(duckdb.sql(query).fetchall(), [(5,)])

    def test_polars_reads_it(self) -> None:
        frame = polars.scan_parquet(self.folder / "train-*.parquet").with_columns(polars.col("sha256").bin.encode("hex"))
        self.assertEqual(frame.collect().to_dicts(), self.expected("train"))
        self.assertEqual(polars.read_ndjson(self.shards("jsonl/val-*")[0]).to_dicts(), self.expected("val"))

    def test_datasets_finds_train_and_validation(self) -> None:
        home = Path(self.scratch.name) / "home"
        environment = os.environ | {"HF_HOME": str(home), "HF_HUB_OFFLINE": "1"}
        # Both formats, and the folder of one: as a whole and streamed, the same splits with the same rows.
        for folder in [self.folder, self.folder / "jsonl"]:
            command = [sys.executable, "-c", LOAD, str(folder)]
            done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            told = json.loads(done.stdout.splitlines()[-1])
            self.assertTrue(told["same"])
            self.assertEqual(told["rows"], {"train": self.expected("train"), "validation": self.expected("val")})

    def test_json_lines_are_one_frame_of_compact_json(self) -> None:
        for split in ["train", "val"]:
            lines = []
            for shard in self.shards(f"jsonl/{split}-*.jsonl.zst"):
                told = subprocess.run(["zstd", "-dc", shard], capture_output=True, check=True).stdout
                self.assertEqual("".join(read_lines(shard)).encode(), told)
                self.assertTrue(zstandard.get_frame_parameters(shard.read_bytes()).has_checksum)
                lines += told.decode().split("\n")[:-1]
            wanted = [json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in self.expected(split)]
            self.assertEqual(lines, wanted)

    def test_sqlite_finds_each_document(self) -> None:
        connection = sqlite3.connect(f"file:{self.folder}/metadata.sqlite?mode=ro", uri=True)
        self.addCleanup(connection.close)
        self.assertEqual(connection.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
        indexes = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'index' AND sql > ''")]
        self.assertEqual(len(indexes), 4, indexes)
        tables = {path.name: pyarrow.parquet.read_table(path, columns=["id"]) for path in self.shards("*.parquet")}
        query = "SELECT id, printf('%s-%05d-', split, shard), row, lower(hex(sha256)) FROM documents"
        seen = {}
        for document, stem, row, digest in connection.execute(query):
            (name,) = [name for name in tables if name.startswith(stem)]
            self.assertEqual(tables[name]["id"][row].as_py(), document)
            seen[document] = digest
        self.assertEqual(seen, {row["id"]: row["sha256"] for row in self.rows})


class EmptyDataset(unittest.TestCase):
    """A dataset without documents: no tool stumbles over a shard without row groups."""

    def test_an_empty_shard_can_be_opened(self) -> None:
        with tempfile.TemporaryDirectory() as scratch:
            (Path(scratch) / "empty.jsonl").write_bytes(b"")
            config = corpora.write_config(Path(scratch), {"empty": ("empty.jsonl", b"", "jsonl")})
            artifacts = Path(scratch) / "artifacts"
            for stage in ["fetch", "extract", "store"]:
                result = corpora.run(stage, "--config", str(config), "--artifacts", str(artifacts))
            folder = artifacts / result["entries"][0]["path"]
            shard = folder / "train-00000-of-00001.parquet"
            self.assertEqual(pyarrow.parquet.read_table(shard).column_names, COLUMNS)
            self.assertEqual(polars.read_parquet(shard).columns, COLUMNS)
            self.assertEqual(duckdb.sql(f"SELECT count(*) FROM '{shard}'").fetchall(), [(0,)])
            self.assertEqual(read_lines(folder / "jsonl" / "train-00000-of-00001.jsonl.zst"), [])


if __name__ == "__main__":
    unittest.main()
