"""What fetch wrote, opened with the tools that its users have: zstd, python-zstandard, json and jsonschema."""

import gzip
import hashlib
import io
import json
import subprocess
import tempfile
import threading
import unittest
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import jsonschema
import zstandard

import corpora

SCHEMAS = corpora.REPOSITORY / "contracts" / "schemas"
NASTY = ["", "two\nlines", 'quotes " and \\', "tab\tbell\u0007nul\u0000del\u007f", "U+2028\u2028 U+0085\u0085", "naïve 日本語 😀"]


def check(instance: object, schema: str) -> None:
    """Validates against `contracts/schemas`."""
    text = (SCHEMAS / f"{schema}.schema.json").read_text(encoding="utf-8")
    jsonschema.validate(instance, json.loads(text), cls=jsonschema.Draft202012Validator)


def jsonl(texts: list[str]) -> bytes:
    return "".join(json.dumps({"text": text}) + "\n" for text in texts).encode()


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


class Readers(unittest.TestCase):
    """One fetch over HTTP of gzip, zstd, plain and empty files in small parts, and the quickstart."""

    @classmethod
    def setUpClass(cls) -> None:
        cls.scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.scratch.cleanup)
        served = Path(cls.scratch.name) / "served"
        served.mkdir()
        server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=served))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        cls.addClassCleanup(server.server_close)
        cls.addClassCleanup(server.shutdown)

        many = [f"document {number}" for number in range(1000)]
        # Each source: its file, and the texts with the 1-based lines where they start.
        cls.expected = {
            "gzipped": list(enumerate(NASTY, start=1)),
            "members": list(enumerate(many, start=1)),
            "zstandard": list(enumerate(NASTY + many, start=1)),
            "blocks": [(2, "a block\nof two lines"), (6, "another one")],
            "empty": [],
        }
        files = {
            "gzipped": ("nasty.jsonl.gz", gzip.compress(jsonl(NASTY)), "jsonl"),
            "members": ("members.jsonl.gz", gzip.compress(jsonl(many[:400])) + gzip.compress(jsonl(many[400:])), "jsonl"),
            "zstandard": ("all.jsonl.zst", zstandard.compress(jsonl(NASTY + many)), "jsonl"),
            "blocks": ("blocks.txt", b"\xef\xbb\xbf\na block\r\nof two lines\r\n \t\n\nanother one", "text"),
            "empty": ("empty.jsonl", b"", "jsonl"),
        }
        for name, data, _ in files.values():
            (served / name).write_bytes(data)
        base = f"http://127.0.0.1:{server.server_address[1]}"
        cls.data = {source: data for source, (_, data, _) in files.items()}
        sources = {source: (f"{base}/{name}", data, form) for source, (name, data, form) in files.items()}
        cls.config = corpora.write_config(Path(cls.scratch.name), sources)
        cls.artifacts = Path(cls.scratch.name) / "artifacts"
        cls.result = corpora.fetch(cls.config, cls.artifacts, "--part-docs", "300")
        cls.quickstart = Path(cls.scratch.name) / "quickstart"
        cls.quickstart_result = corpora.fetch(corpora.QUICKSTART / "corpus.toml", cls.quickstart)

    def all_parts(self) -> list[Path]:
        found = sorted(self.artifacts.glob("corpus/raw/*/*/*")) + sorted(self.quickstart.glob("corpus/raw/*/*/*"))
        self.assertGreater(len(found), 10)
        return found

    def documents(self, source: str) -> list[dict]:
        lines = []
        for part in corpora.parts(self.artifacts, source):
            with zstandard.open(part, "rt", encoding="utf-8", newline="\n") as file:
                lines += [json.loads(line) for line in file]
        return lines

    def test_every_way_of_reading_a_part_gives_the_same_bytes(self) -> None:
        for part in self.all_parts():
            with self.subTest(part=part):
                told = subprocess.run(["zstd", "-dc", part], capture_output=True, check=True).stdout
                with part.open("rb") as file, zstandard.ZstdDecompressor().stream_reader(file) as reader:
                    self.assertEqual(io.TextIOWrapper(reader, encoding="utf-8", newline="\n").read().encode(), told)
                with zstandard.open(part, "rb") as file:
                    self.assertEqual(file.read(), told)
                with part.open("rb") as file:
                    pieces = b"".join(zstandard.ZstdDecompressor().read_to_iter(file))
                self.assertEqual(pieces, told)

    def test_parts_carry_their_own_checksum(self) -> None:
        for part in self.all_parts():
            with self.subTest(part=part):
                self.assertTrue(zstandard.get_frame_parameters(part.read_bytes()).has_checksum)
                subprocess.run(["zstd", "-tq", part], check=True)

    def test_documents_say_where_their_text_starts(self) -> None:
        for row in corpora.ledger(self.artifacts):
            source = row["source_id"]
            got = [(document["url"], document["text"]) for document in self.documents(source)]
            wanted = [(f"{row['url']}#{line}", text) for line, text in self.expected[source]]
            self.assertEqual(got, wanted, source)

    def test_raw_lines_are_compact_json_in_the_order_of_the_schema(self) -> None:
        keys = ["url", "fetched_at", "license_spdx", "text", "content_type", "meta"]
        for part in self.all_parts():
            for line in subprocess.run(["zstd", "-dc", part], capture_output=True, check=True).stdout.split(b"\n")[:-1]:
                document = json.loads(line)
                check(document, "raw-document")
                self.assertEqual([key for key in keys if key in document], list(document))
                self.assertEqual(json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode(), line)

    def test_receipts_say_what_the_parts_hold(self) -> None:
        for receipt in corpora.receipts(self.artifacts):
            check(receipt, "receipt")
            source = receipt["source_id"]
            self.assertEqual(receipt["sha256"], hashlib.sha256(self.data[source]).hexdigest())
            self.assertEqual(receipt["bytes"], len(self.data[source]))
            self.assertEqual(receipt["n_docs"], len(self.expected[source]))
            paths = corpora.parts(self.artifacts, source)
            told = [(part["name"], part["sha256"], part["bytes"]) for part in receipt["parts"]]
            seen = [(p.name, hashlib.sha256(p.read_bytes()).hexdigest(), p.stat().st_size) for p in paths]
            self.assertEqual(told, seen)
            self.assertEqual([part["n_docs"] for part in receipt["parts"]], split(receipt["n_docs"], 300))
        self.assertEqual({receipt["source_id"] for receipt in corpora.receipts(self.artifacts)}, set(self.data))

    def test_ledger_rows_follow_the_config(self) -> None:
        rows = corpora.ledger(self.artifacts)
        for row in rows + corpora.ledger(self.quickstart):
            check(row, "ledger-row")
            self.assertEqual(row["kept"], row["n_docs"])
        self.assertEqual([row["source_id"] for row in rows], list(self.data))
        self.assertEqual([row["n_docs"] for row in corpora.ledger(self.quickstart)], [77, 29, 26])

    def test_results_follow_the_schema(self) -> None:
        for result in (self.result, self.quickstart_result):
            check(result, "fetch-summary")
            self.assertTrue(result["ok"])
            self.assertEqual({entry["status"] for entry in result["entries"]}, {"fetched"})

    def test_a_rerun_changes_no_file(self) -> None:
        before = state(self.artifacts)
        again = corpora.fetch(self.config, self.artifacts, "--part-docs", "300")
        self.assertEqual({(entry["status"], entry["requests"]) for entry in again["entries"]}, {("cached", 0)})
        self.assertEqual(state(self.artifacts), before)

    def test_quickstart_keeps_the_languages(self) -> None:
        (part,) = corpora.parts(self.quickstart, "proverbs")
        with zstandard.open(part, "rt", encoding="utf-8", newline="\n") as file:
            documents = [json.loads(line) for line in file]
        self.assertEqual(len({document["meta"]["lang"] for document in documents}), 31)
        self.assertEqual(documents[0]["url"], "proverbs.jsonl#1")
        self.assertEqual(documents[0]["text"], "A stitch in time saves nine.")


class Activity(unittest.TestCase):
    """The stage as an orchestrator runs it."""

    def test_done_and_progress_follow_the_schemas(self) -> None:
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch) / "activities" / "build" / "run-1" / "fetch-1"
            folder.mkdir(parents=True)
            data = jsonl(NASTY)
            (Path(scratch) / "nasty.jsonl").write_bytes(data)
            source = {"id": "nasty", "url": "nasty.jsonl", "sha256": hashlib.sha256(data).hexdigest(), "license_spdx": "CC0-1.0"}
            spec = {"dataset": "readers", "version": "v1", "base": scratch, "sources": [source]}
            (folder / "spec.json").write_text(json.dumps(spec), encoding="utf-8")
            arguments = ["run", "--stage", "fetch", "--spec", str(folder / "spec.json"), "--progress", str(folder / "progress.jsonl")]
            result = corpora.run(*arguments, CORPORA_ARTIFACTS=scratch)

            done = json.loads((folder / "DONE.json").read_text(encoding="utf-8"))
            check(done, "done")
            self.assertEqual(done["result"], result)
            self.assertEqual(done["spec_sha256"], hashlib.sha256((folder / "spec.json").read_bytes()).hexdigest())
            for output in done["outputs"]:
                self.assertTrue((Path(scratch) / output).exists(), output)
            events = [json.loads(line) for line in (folder / "progress.jsonl").read_text(encoding="utf-8").splitlines()]
            for event in events:
                check(event, "progress-event")
            self.assertEqual(events[-1]["kind"], "done")

            self.assertEqual(corpora.run(*arguments, CORPORA_ARTIFACTS=scratch, CORPORA_ATTEMPT="2"), result)


def split(documents: int, part_docs: int) -> list[int]:
    """The documents of each part; a source without any has one empty part."""
    return [min(part_docs, documents - start) for start in range(0, max(documents, 1), part_docs)]


def state(artifacts: Path) -> dict[str, tuple[int, bytes]]:
    """Every file but the locks, with its time of change and its bytes."""
    files = (path for path in artifacts.rglob("*") if path.is_file() and "locks" not in path.parts)
    return {str(path): (path.stat().st_mtime_ns, path.read_bytes()) for path in files}


if __name__ == "__main__":
    unittest.main()
