#!/usr/bin/env python3
"""What tools do when a server misbehaves while a cut download is continued.

    bench/fetch/resume.py

Each tool is cut after 300,000 bytes of 1 MiB, then continues against a server with one fault. A cell says whether the
bytes in the end are the served object's, and the exit code.
"""

import hashlib
import shutil
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import run

SIZE = 1 << 20
CUT = 300_000


def lines(letter: str) -> bytes:
    """1 MiB of JSON Lines: every tool gets the same bytes, and they can be fetched as a source."""
    line = '{"text": "' + letter * 51 + '"}\n'
    return (line * (SIZE // len(line))).encode()


OLD, NEW = lines("a"), lines("b")
FAULTS = {
    "the object was replaced, same length, new ETag": {"data": NEW, "etag": '"new"'},
    "200 to a range": {"ignore_range": True},
    "206 that starts 1,000 bytes early": {"shift": -1000},
    "206 with a wrong total": {"total": SIZE + 7},
    "206 labelled Content-Encoding: gzip": {"coding": "gzip"},
    "200, and cut again": {"ignore_range": True, "cut": CUT + 1000},
}
TOOLS = {
    "curl -C -": "curl -sSf -C - -o object.jsonl {url}",
    "wget -c": "wget -q -c -t 1 {url}",
    "wget2 -c": "wget2 -q -c --tries=1 {url}",
    "aria2c -c": "aria2c -q -c -m 1 -o object.jsonl {url}",
    "corpora fetch": "{corpora} fetch --config corpus.toml --artifacts . --attempts 1 --quiet",
}


class Server(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    fault: dict = {}
    requests: list[str | None] = []

    def do_GET(self) -> None:
        asked = self.headers.get("Range")
        first = not self.requests
        self.requests.append(asked)
        if first:
            return self.send(200, OLD, {"ETag": '"old"'}, CUT)
        fault, data = self.fault, self.fault.get("data", OLD)
        headers = {"ETag": fault.get("etag", '"old"')}
        outdated = self.headers.get("If-Range", headers["ETag"]) != headers["ETag"]
        if asked is None or fault.get("ignore_range") or outdated:
            return self.send(200, data, headers, fault.get("cut"))
        start = int(asked.removeprefix("bytes=").split("-")[0]) + fault.get("shift", 0)
        headers["Content-Range"] = f"bytes {start}-{SIZE - 1}/{fault.get('total', SIZE)}"
        if "coding" in fault:
            headers["Content-Encoding"] = fault["coding"]
        self.send(206, data[start:], headers, None)

    def send(self, status: int, body: bytes, headers: dict[str, str], cut: int | None) -> None:
        self.send_response(status)
        for name, value in (headers | {"Content-Length": str(len(body))}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body[:cut])
        self.close_connection = cut is not None

    def log_message(self, *_: object) -> None:
        pass


class Quiet(ThreadingHTTPServer):
    def handle_error(self, *_: object) -> None:
        """A tool that hangs up is none of the server's errors."""


def trial(command: str, fault: dict, base: str) -> str:
    """Cut once, continue once, and look."""
    Server.fault, Server.requests = fault, []
    wanted = fault.get("data", OLD)
    with tempfile.TemporaryDirectory() as folder:
        url = f"{base}/object.jsonl"
        text = run.config_text([("object", url, hashlib.sha256(wanted).hexdigest())])
        (Path(folder) / "corpus.toml").write_text("keep_downloads = true\n" + text, encoding="utf-8")
        shell = command.format(url=url, corpora=run.programs.corpora())
        for _ in range(2):
            done = subprocess.run(shell.split(), cwd=folder, capture_output=True, timeout=60, check=False)
        found = [file.read_bytes() for file in Path(folder).rglob("object.jsonl*") if file.suffix in (".jsonl", ".1")]
        state = "right" if wanted in found else "wrong bytes" if done.returncode == 0 else "not done"
        return f"{state}, exit {done.returncode}"


def main() -> None:
    server = Quiet(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    base = f"http://127.0.0.1:{server.server_address[1]}"
    tools = {name: command for name, command in TOOLS.items() if name == "corpora fetch" or shutil.which(name.split()[0])}
    print(f"| server | {' | '.join(tools)} |\n|---|{'---|' * len(tools)}")
    for name, fault in FAULTS.items():
        cells = [trial(command, fault, base) for command in tools.values()]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
