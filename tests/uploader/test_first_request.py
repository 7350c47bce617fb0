"""The first request of a process imports nothing: an import on the event loop is a stall."""

import subprocess
import sys

from tests.conftest import ROOT

CODE = """
import asyncio, http.server, sys, threading
from uploader import AsyncTracesClient, NotFoundError

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_error(404)

server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()

async def main():
    async with AsyncTracesClient("key", f"http://127.0.0.1:{server.server_port}", "") as client:
        before = set(sys.modules)
        try:
            await client.list()
        except NotFoundError:
            print(sorted(set(sys.modules) - before))

asyncio.run(main())
"""


def test_it_imports_nothing_of_the_http_library() -> None:
    command = [sys.executable, "-c", CODE]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True, timeout=60)
    assert ran.stdout.startswith("[")
    assert "anyio" not in ran.stdout
    assert "http" not in ran.stdout
