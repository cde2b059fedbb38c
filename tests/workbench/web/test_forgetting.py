"""What a tab sends lies in no file."""

from __future__ import annotations

import os
from pathlib import Path

from tests.workbench.web.client import Server, Visitor


def test_an_upload_is_in_no_temporary_file(server: Server) -> None:
    """Files over 1 MB lay in an unlinked temporary file, while the page said that nothing is written."""
    visitor = Visitor(server.host).run()
    visitor.put(f"/_stcore/upload_file/{visitor.session}/big", b"age,sex\n" + b"30,F\n" * 500_000, "x.csv")
    handles = Path(f"/proc/{server.process.pid}/fd").iterdir()
    targets = [os.readlink(handle) for handle in handles if handle.is_symlink()]
    assert not [target for target in targets if "(deleted)" in target], targets
