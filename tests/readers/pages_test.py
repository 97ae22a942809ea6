"""Web archives that warcio wrote, read by fetch: as many records of each kind, and the bodies that warcio reads."""

import collections
import gc
import gzip
import hashlib
import io
import json
import tempfile
import unittest
import warnings
from pathlib import Path

import zstandard
from warcio.archiveiterator import ArchiveIterator
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

import corpora

TEXT = "Die Fähre fährt um sechs, bevor sich der Nebel hebt. "


def chunked(body: bytes) -> bytes:
    """A body as servers send it that do not know its length beforehand."""
    pieces = [body[at : at + 1000] for at in range(0, len(body), 1000)]
    return b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"


def write(path: Path, packed: bool, version: str) -> None:
    """An archive with records of every kind that warcio writes, pages in every coding."""
    with path.open("wb") as file:
        writer = WARCWriter(file, gzip=packed, warc_version=version)
        writer.write_record(writer.create_warcinfo_record(path.name, {"software": "warcio"}))

        def put(kind: str, url: str, payload: bytes, head: StatusAndHeaders | None = None, **fields: str) -> None:
            writer.write_record(
                writer.create_warc_record(url, kind, payload=io.BytesIO(payload), http_headers=head, **fields)
            )

        def answer(url: str, status: str, payload: bytes, *fields: tuple[str, str]) -> None:
            put("response", url, payload, StatusAndHeaders(status, list(fields), protocol="HTTP/1.1"))

        html = ("Content-Type", "text/html; charset=utf-8")
        for number in range(60):
            body = f"<title>Page {number}</title><p>{TEXT * (number + 1)}</p>".encode()
            url = f"https://harbour.example/{number}"
            dresses = [
                (body, ()),
                (gzip.compress(body), (("Content-Encoding", "gzip"),)),
                (chunked(body), (("Transfer-Encoding", "chunked"),)),
                (chunked(gzip.compress(body)), (("Content-Encoding", "gzip"), ("Transfer-Encoding", "chunked"))),
            ]
            payload, fields = dresses[number % 4]
            request = StatusAndHeaders("GET / HTTP/1.1", [("Host", "harbour.example")], is_http_request=True)
            put("request", url, b"", request)
            answer(url, "200 OK", payload, html, *fields)
        answer("https://harbour.example/pier.png", "200 OK", b"\x89PNG", ("Content-Type", "image/png"))
        answer("https://harbour.example/old", "404 Not Found", b"<p>No such page.", html)
        answer("https://harbour.example/moved", "301 Moved Permanently", b"", ("Location", "/"), html)
        put("resource", "https://harbour.example/r", b"<p>Resource.", warc_content_type="text/html")
        put("metadata", "https://harbour.example/m", b"a: b", warc_content_type="application/warc-fields")
        put("conversion", "https://harbour.example/c", TEXT.encode(), warc_content_type="text/plain")
        url, digest = "https://harbour.example/0", "sha1:B6QJ6BNJ3R4B23XXMRKZKHLPGJY2VE4O"
        writer.write_record(writer.create_revisit_record(url, digest, url, "2026-01-01T00:00:00Z"))


def read(path: Path) -> tuple[collections.Counter, dict[str, bytes]]:
    """The kinds of all records, and the bodies of the pages, as warcio reads them."""
    kinds: collections.Counter = collections.Counter()
    bodies = {}
    with path.open("rb") as file:
        for record in ArchiveIterator(file):
            kinds[record.rec_type] += 1
            is_answer = record.rec_type == "response" and record.http_headers.get_statuscode() == "200"
            is_page = is_answer and "html" in (record.http_headers.get_header("Content-Type") or "")
            if is_page or record.rec_type == "resource":
                bodies[record.rec_headers.get_header("WARC-Target-URI")] = record.content_stream().read()
    return kinds, bodies


class Archives(unittest.TestCase):
    """Archives of both versions, packed and plain."""

    @classmethod
    def setUpClass(cls) -> None:
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.folder, cls.artifacts = Path(scratch.name), Path(scratch.name) / "artifacts"
        cls.archives = {
            f"v{version.replace('.', '-')}{'-gz' if packed else ''}": (packed, version)
            for packed in (True, False)
            for version in ("1.0", "1.1")
        }
        sources = {}
        for name, (packed, version) in cls.archives.items():
            path = cls.path(name)
            with warnings.catch_warnings():
                # warcio leaves it to the collector to close its temporary files.
                warnings.simplefilter("ignore", ResourceWarning)
                write(path, packed, f"WARC/{version}")
                gc.collect()
            sources[name] = (path.name, path.read_bytes(), "warc")
            sources[f"{name}-wet"] = (path.name, path.read_bytes(), "wet")
        cls.result = corpora.fetch(corpora.write_config(cls.folder, sources), cls.artifacts)

    @classmethod
    def path(cls, name: str) -> Path:
        return cls.folder / f"{name}.warc{'.gz' if cls.archives[name][0] else ''}"

    def documents(self, name: str) -> list[dict]:
        lines: list[str] = []
        for part in corpora.parts(self.artifacts, name):
            with zstandard.open(part, "rt", encoding="utf-8", newline="\n") as file:
                lines += file
        return [json.loads(line) for line in lines]

    def test_pages_are_those_that_warcio_reads(self) -> None:
        for name in self.archives:
            _, bodies = read(self.path(name))
            self.assertEqual(len(bodies), 61)
            found = {document["url"]: document for document in self.documents(name)}
            self.assertEqual(list(found), list(bodies), "in the order of the archive")
            for url, body in bodies.items():
                self.assertEqual(found[url]["text"], body.decode(), url)
                self.assertEqual(found[url]["meta"]["sha256"], hashlib.sha256(body).hexdigest())
                self.assertEqual(found[url]["content_type"], "text/html")

    def test_records_are_counted_as_warcio_counts_them(self) -> None:
        receipts = {receipt["source_id"]: receipt for receipt in corpora.receipts(self.artifacts)}
        for name in self.archives:
            kinds, bodies = read(self.path(name))
            receipt = receipts[name]
            self.assertEqual(receipt["n_docs"] + sum(receipt["dropped"].values()), sum(kinds.values()))
            for kind in ("warcinfo", "request", "metadata", "revisit", "conversion"):
                self.assertEqual(receipt["dropped"][kind], kinds[kind], kind)
            answers = kinds["response"] + kinds["resource"]
            self.assertEqual(receipt["n_docs"], len(bodies))
            self.assertEqual(receipt["dropped"]["status"] + receipt["dropped"]["not_html"], answers - len(bodies))
            self.assertEqual(receipts[f"{name}-wet"]["n_docs"], kinds["conversion"])

    def test_texts_are_those_of_conversions(self) -> None:
        for name in self.archives:
            (document,) = self.documents(f"{name}-wet")
            self.assertEqual((document["text"], document["content_type"]), (TEXT, "text/plain"))
            self.assertEqual(document["url"], "https://harbour.example/c")


if __name__ == "__main__":
    unittest.main()
