"""The health check `python -m workbench.server.web.alive`, which asks the server on this computer."""

from __future__ import annotations

import os
import sys
import urllib.request


def main() -> int:
    """0 if /healthz answers."""
    port = os.environ.get("STREAMLIT_SERVER_PORT", "8501")
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=4) as answer:
            return int(answer.status != 200)
    except OSError:
        return 1


if __name__ == "__main__":
    sys.exit(main())
