"""The two parts of an upload, taken apart while the body arrives.

`metadata` is small and kept; the bytes of `traces` are handed on as they come.
"""

from typing import Final

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from uploader.receiver.errors import RequestRefusedError

_TRACES: Final = "traces"
_METADATA: Final = "metadata"


class UploadParts:
    """Takes the body's chunks and gives the bytes of the traces part.

    Attributes:
        metadata: the bytes of the metadata part.
        content_encoding: of the traces part, lower case; empty when it has none.
    """

    def __init__(self, content_type: str, max_metadata_bytes: int) -> None:
        kind, options = parse_options_header(content_type)
        boundary = options.get(b"boundary", b"")
        if kind != b"multipart/form-data" or not boundary:
            raise RequestRefusedError("invalid_metadata", "The body must be multipart/form-data with a boundary.")
        self._max_metadata_bytes = max_metadata_bytes
        self._seen: set[str] = set()
        self._headers: dict[str, str] = {}
        self._name = ""
        self._header_name = bytearray()
        self._header_value = bytearray()
        self._traces: list[bytes] = []
        self._ended = False
        self._metadata = bytearray()
        self.content_encoding = ""
        try:
            self._parser = MultipartParser(
                boundary,
                {
                    "on_part_begin": self._on_part_begin,
                    "on_header_field": self._on_header_field,
                    "on_header_value": self._on_header_value,
                    "on_header_end": self._on_header_end,
                    "on_headers_finished": self._on_headers_finished,
                    "on_part_data": self._on_part_data,
                    "on_end": self._on_end,
                },
            )
        except FormParserError as error:
            raise _malformed(str(error)) from error

    @property
    def metadata(self) -> bytes:
        """The bytes of the metadata part."""
        return bytes(self._metadata)

    def feed(self, chunk: bytes) -> list[bytes]:
        """The bytes of the traces part within this chunk.

        Raises:
            RequestRefusedError: `invalid_metadata`, when the form is broken, a part unknown or doubled, or
            the metadata too long.
        """
        try:
            self._parser.write(chunk)
        except FormParserError as error:
            raise _malformed(str(error)) from error
        traces, self._traces = self._traces, []
        return traces

    def finish(self) -> None:
        """Check that the form is whole.

        Raises:
            RequestRefusedError: `invalid_metadata`, when it ends early or a part is missing.
        """
        if not self._ended:
            raise _malformed("it ends before its last boundary")
        for name in (_METADATA, _TRACES):
            if name not in self._seen:
                raise RequestRefusedError("invalid_metadata", f"The form has no part named {name}.")

    def _on_part_begin(self) -> None:
        self._headers = {}
        self._name = ""

    def _on_header_field(self, data: bytes, start: int, end: int) -> None:
        self._header_name += data[start:end]

    def _on_header_value(self, data: bytes, start: int, end: int) -> None:
        self._header_value += data[start:end]

    def _on_header_end(self) -> None:
        name = self._header_name.decode("latin-1").lower()
        self._headers[name] = self._header_value.decode("latin-1").strip()
        self._header_name.clear()
        self._header_value.clear()

    def _on_headers_finished(self) -> None:
        _, options = parse_options_header(self._headers.get("content-disposition"))
        self._name = options.get(b"name", b"").decode("latin-1")
        if self._name not in (_METADATA, _TRACES):
            raise RequestRefusedError(
                "invalid_metadata", f"The form has a part named {self._name[:100]!r}, which is not agreed."
            )
        if self._name in self._seen:
            raise RequestRefusedError("invalid_metadata", f"The form has two parts named {self._name}.")
        self._seen.add(self._name)
        if self._name == _TRACES:
            self.content_encoding = self._headers.get("content-encoding", "").lower()
            if self.content_encoding not in ("", "identity", "gzip"):
                raise RequestRefusedError(
                    "malformed_encoding", "Content-Encoding of the traces part must be gzip or absent."
                )

    def _on_part_data(self, data: bytes, start: int, end: int) -> None:
        if self._name == _TRACES:
            self._traces.append(data[start:end])
            return
        if len(self._metadata) + end - start > self._max_metadata_bytes:
            raise RequestRefusedError(
                "invalid_metadata", f"The metadata part is longer than {self._max_metadata_bytes} bytes."
            )
        self._metadata += data[start:end]

    def _on_end(self) -> None:
        self._ended = True


def _malformed(reason: str) -> RequestRefusedError:
    return RequestRefusedError("invalid_metadata", f"The multipart form is broken: {reason}.")
