"""The `uploader` command: upload, convert, serve, quickstart. It needs the `cli` extra."""
