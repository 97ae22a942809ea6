"""Every document can be followed back to the bytes that were pinned; nothing of Corpora's own code is asked on the way."""

import gzip
import hashlib
import json
import random
import tempfile
import unicodedata
import unittest
from pathlib import Path

import pyarrow.parquet
import zstandard

import corpora

SEED, DOCUMENTS = 20260101, 100


def read_lines(parts: list[Path]) -> list[dict]:
    """The JSON lines of zstd files, in order."""
    lines = []
    for part in parts:
        with zstandard.open(part, "rt", encoding="utf-8", newline="\n") as file:
            lines += [json.loads(line) for line in file]
    return lines


def blocks(data: str) -> dict[int, str]:
    """The blocks of non-blank lines of a text by the 1-based line where each starts, as the contract says."""
    found, start = {}, 0
    for number, line in enumerate(data.split("\n"), start=1):
        line = line.removesuffix("\r")
        if not line.strip():
            start = 0
        elif start:
            found[start] += "\n" + line
        else:
            start = number
            found[start] = line
    return found


class Trace(unittest.TestCase):
    """A build of gzipped, plain and zstd JSON Lines in many parts, and of a text, walked backwards."""

    @classmethod
    def setUpClass(cls) -> None:
        cls.scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.scratch.cleanup)
        scratch = Path(cls.scratch.name)
        texts = [f"Line {number}:\te\u0301te\u0301  \r\nand 雪 {number * number}\u0007" for number in range(500)]
        lines = [json.dumps({"text": text}, ensure_ascii=number % 2 == 0) for number, text in enumerate(texts)]
        plain = ("\n\n".join(lines) + "\n").encode()
        prose = "".join(f"Block {number},\nsecond line.\r\n\r\n" + " \n" * (number % 3) for number in range(200)).encode()
        files = {
            "plain": ("plain.jsonl", plain, "jsonl"),
            "packed": ("packed.jsonl.gz", gzip.compress(plain, mtime=0), "jsonl"),
            "zipped": ("zipped.jsonl.zst", zstandard.compress(plain), "jsonl"),
            "prose": ("prose.txt", prose, "text"),
        }
        for name, data, _ in files.values():
            (scratch / name).write_bytes(data)
        cls.config = corpora.write_config(scratch, files)
        with cls.config.open("a", encoding="utf-8") as file:
            file.write("[store]\nshard_rows = 400\nval_permille = 100\n")
        cls.artifacts = scratch / "artifacts"
        result = corpora.run("build", "--config", str(cls.config), "--artifacts", str(cls.artifacts), "--part-docs", "60")
        assert result["ok"] and result["n_docs"] == 1700, result
        cls.folder = cls.artifacts / result["dataset_dir"]
        cls.manifest = json.loads((cls.folder / "_MANIFEST.json").read_text(encoding="utf-8"))
        cls.units = {source: cls.units_of(scratch / row["url"]) for source, row in cls.rows().items()}

    @classmethod
    def rows(cls) -> dict[str, dict]:
        return {row["source_id"]: row for row in cls.manifest["ledger"]}

    @staticmethod
    def units_of(path: Path) -> dict[int, str]:
        """What a source's own bytes hold, by line: read here anew, with other code."""
        data = path.read_bytes()
        unpack = {".gz": gzip.decompress, ".zst": zstandard.ZstdDecompressor().decompress}
        text = unpack.get(path.suffix, bytes)(data).decode()
        if path.suffix == ".txt":
            return blocks(text)
        return {number: json.loads(line)["text"] for number, line in enumerate(text.split("\n"), start=1) if line.strip()}

    def test_a_hundred_random_documents_lead_back_to_the_pinned_bytes(self) -> None:
        shards = sorted(self.folder.glob("*.parquet"))
        table = [row for shard in shards for row in pyarrow.parquet.read_table(shard).to_pylist()]
        self.assertEqual(len(table), self.manifest["n_docs"])
        sample = random.Random(SEED).sample(table, DOCUMENTS)
        self.assertEqual({row["source_id"] for row in sample}, set(self.units))
        ledger = corpora.ledger(self.artifacts)
        for row in sample:
            with self.subTest(document=row["id"]):
                self.follow(row, ledger)

    def follow(self, row: dict, ledger: list[dict]) -> None:
        """From the shard's row over ledger row, document and raw line to the source's bytes."""
        source, _, position = row["id"].rpartition(":")
        terms = self.rows()[source]
        self.assertIn(terms, ledger)
        self.assertEqual((row["source_id"], row["license_spdx"]), (source, terms["license_spdx"]))

        document = read_lines(self.documents(source))[int(position)]
        for key in ["id", "source_id", "url", "license_spdx", "lang", "title", "text"]:
            self.assertEqual(document[key], row[key], key)
        self.assertEqual(hashlib.sha256(document["text"].encode()).digest(), row["sha256"])
        self.assertEqual(len(document["text"]), row["n_chars"])

        raw = read_lines(corpora.parts(self.artifacts, source))[int(position)]
        self.assertEqual((raw["url"], raw["fetched_at"]), (document["url"], document["fetched_at"]))
        url, _, line = raw["url"].rpartition("#")
        self.assertEqual(url, terms["url"])
        self.assertEqual(raw["text"], self.units[source][int(line)])
        pinned = (Path(self.scratch.name) / url).read_bytes()
        self.assertEqual(hashlib.sha256(pinned).hexdigest(), terms["sha256"])
        self.assertEqual(words(document["text"]), words(raw["text"]))

    def documents(self, source: str) -> list[Path]:
        return sorted((self.artifacts / "corpus" / "extract" / "readers" / "v1" / source).glob("part-*.jsonl.zst"))

    def test_documents_are_those_of_the_source_in_its_order(self) -> None:
        for source, units in self.units.items():
            raw = read_lines(corpora.parts(self.artifacts, source))
            self.assertEqual([(int(line["url"].rpartition("#")[2]), line["text"]) for line in raw], sorted(units.items()))
            documents = read_lines(self.documents(source))
            self.assertEqual([document["id"] for document in documents], [f"{source}:{k}" for k in range(len(units))])

    def test_the_receipts_vouch_for_what_stands(self) -> None:
        for receipt in corpora.receipts(self.artifacts):
            self.assertEqual(receipt["sha256"], self.rows()[receipt["source_id"]]["sha256"])
            for part, path in zip(receipt["parts"], corpora.parts(self.artifacts, receipt["source_id"]), strict=True):
                self.assertEqual((part["name"], part["sha256"]), (path.name, hashlib.sha256(path.read_bytes()).hexdigest()))
        verified = json.loads((self.folder / "_VERIFIED.json").read_text(encoding="utf-8"))
        manifest = hashlib.sha256((self.folder / "_MANIFEST.json").read_bytes()).hexdigest()
        self.assertEqual(verified["manifest_sha256"], manifest)


def words(text: str) -> list[str]:
    """The words of a text, whatever normalisation does to the blanks and control characters between them."""
    printable = "".join(character for character in text if character.isspace() or unicodedata.category(character) != "Cc")
    return unicodedata.normalize("NFC", printable).split()


if __name__ == "__main__":
    unittest.main()
