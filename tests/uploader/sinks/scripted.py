"""A store of any kind that answers what the test says, over real HTTP; and clients of the three kinds for it."""

import base64
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

_MULTIPART = b"<InitiateMultipartUploadResult><UploadId>number-1</UploadId></InitiateMultipartUploadResult>"
_COMPLETED = b"<CompleteMultipartUploadResult><ETag>x</ETag></CompleteMultipartUploadResult>"


class ScriptedStore:
    """What a test sees and says.

    Attributes:
        url: its address.
        answers: status and body of the next answers; behind them all is well. None: no answer until the end.
        part_answers: the same for parts of a multipart upload.
        requests: method and path of each request.
        bodies: their bodies.
    """

    def __init__(self) -> None:
        self.answers: list[tuple[int, str] | None] = []
        self.part_answers: list[tuple[int, str] | None] = []
        self.requests: list[tuple[str, str]] = []
        self.bodies: list[bytes] = []
        self.let_go = threading.Event()
        self.arrived = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def close(self) -> None:
        self.let_go.set()
        self._server.shutdown()
        self._server.server_close()

    def address(self, kind: str) -> str:
        """What users write."""
        return {
            "s3": f"s3://bucket/prefix?endpoint={self.url}",
            "gs": f"gs://bucket/prefix?endpoint={self.url}",
            "az": f"az://bucket/prefix?account=me&endpoint={self.url}",
        }[kind]

    def config(self, kind: str) -> dict[str, Any]:
        """Credentials of this kind."""
        key = {"disable_oauth": True, "client_email": "", "private_key": "", "private_key_id": ""}
        return {
            "s3": {},
            "gs": {"service_account_key": json.dumps(key)},
            "az": {"account_key": base64.b64encode(b"k" * 32).decode()},
        }[kind]

    def _handler(store) -> type[BaseHTTPRequestHandler]:
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def _answer(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                store.requests.append((self.command, self.path))
                store.bodies.append(body)
                store.arrived.set()
                script = store.part_answers if "partNumber" in self.path else store.answers
                answer = script.pop(0) if script else (200, "")
                if answer is None:
                    store.let_go.wait()
                    self.close_connection = True
                    return
                status, text = answer
                content = text.encode()
                if status == 200 and self.command == "POST":
                    content = _MULTIPART if "uploads" in self.path else _COMPLETED
                self.send_response(status)
                self.send_header("Content-Length", str(len(content)))
                self.send_header("ETag", '"x"')
                self.end_headers()
                self.wfile.write(content)

            do_PUT = do_POST = do_GET = do_HEAD = do_DELETE = _answer

            def log_message(self, *arguments: Any) -> None:
                pass

        return Handler


@contextmanager
def scripted_store() -> Iterator[ScriptedStore]:
    """A store for a `with` block."""
    store = ScriptedStore()
    try:
        yield store
    finally:
        store.close()
