"""Serves a folder on loopback: with nginx where it is installed, else with sendfile from Python."""

import os
import shutil
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

NGINX = """
daemon off; master_process off; pid {scratch}/nginx.pid; error_log {scratch}/error.log;
events {{ worker_connections 64; }}
http {{
  access_log off; sendfile on; tcp_nopush on; keepalive_timeout 60s; default_type application/octet-stream;
  client_body_temp_path {scratch}/body; proxy_temp_path {scratch}/proxy; fastcgi_temp_path {scratch}/fastcgi;
  uwsgi_temp_path {scratch}/uwsgi; scgi_temp_path {scratch}/scgi;
  server {{ listen 127.0.0.1:{port}; root {folder}; }}
}}
"""


class Sendfile(SimpleHTTPRequestHandler):
    """Whole files only: the benchmarks resume nothing."""

    protocol_version = "HTTP/1.1"

    def copyfile(self, source, _) -> None:
        self.wfile.flush()
        offset, size = 0, os.fstat(source.fileno()).st_size
        while offset < size:
            offset += os.sendfile(self.connection.fileno(), source.fileno(), offset, size - offset)

    def log_message(self, *_: object) -> None:
        pass


def program() -> str | None:
    return shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")


@contextmanager
def serve(folder: Path, scratch: Path):
    """The base url of `folder`, for as long as the context lasts."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    if program():
        conf = scratch / "nginx.conf"
        conf.write_text(NGINX.format(scratch=scratch, folder=folder, port=port), encoding="utf-8")
        command = [program(), "-p", str(scratch), "-c", str(conf)]
    else:
        command = [sys.executable, __file__, str(folder), str(port)]
    server = subprocess.Popen(command)
    try:
        wait_for(port)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait()


def wait_for(port: int) -> None:
    for _ in range(100):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise SystemExit("the server did not start")


if __name__ == "__main__":
    handler = partial(Sendfile, directory=sys.argv[1])
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), handler).serve_forever()
