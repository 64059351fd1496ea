"""A Hub for tests, and how to point real clients at it.

    with Hub() as hub:
        hub.fail("upload", cut="request")
        ran = run_client(CODE, client_env(hub.url, tmp_path / "home", TOKEN))
        assert hub.files("author/invented")["README.md"] == …

`huggingface_hub` and `datasets` read their settings when they are imported, so client code runs in its own process.
(`HfApi(endpoint=hub.url, token=TOKEN)` also works in this one, as `tests/test_hub.py` shows.)
"""

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any, NamedTuple

from tests.hub.repository import GITATTRIBUTES, Commit
from tests.hub.server import READ_TOKEN, STEPS, TOKEN, USER, Hub, Request

__all__ = [
    "GITATTRIBUTES",
    "READ_TOKEN",
    "STEPS",
    "TOKEN",
    "USER",
    "Commit",
    "Hub",
    "Ran",
    "Request",
    "client_env",
    "run_client",
]


class Ran(NamedTuple):
    """What a client left: its answer (the last line it printed, as JSON) and all that it wrote, errors included."""

    answer: Any
    output: str


def client_env(url: str, home: Path, token: str | None = None) -> dict[str, str]:
    """The environment for a client of the Hub at `url`, with its own caches in `home` and nothing of the user's:
    no login, no proxy, no settings, no request to any other host."""
    foreign = ("HF_", "HUGGING", "DATASETS_")
    env = {
        name: value
        for name, value in os.environ.items()
        if not name.upper().startswith(foreign) and not name.lower().endswith("_proxy")
    }
    env |= {
        "HF_ENDPOINT": url,
        "HF_HOME": str(home),
        # Uploads would go through Xet otherwise, which needs a server of its own.
        "HF_HUB_DISABLE_XET": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
        "HF_HUB_DISABLE_UPDATE_CHECK": "1",
        # `datasets` counts loads at an address that HF_ENDPOINT does not change.
        "HF_UPDATE_DOWNLOAD_COUNTS": "0",
    }
    return env | ({"HF_TOKEN": token} if token else {})


def run_client(code: str, env: dict[str, str], *arguments: str, timeout: float = 60) -> Ran:
    """Run Python code with real clients, in the environment of `client_env` and in its `home`.

    The code gets `arguments` as `sys.argv[1:]` and prints its answer as one line of JSON, the last one. Raises
    `AssertionError` with all it wrote if it ends with an error, and `subprocess.TimeoutExpired` if it does not end.
    """
    home = Path(env["HF_HOME"])
    home.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-c", textwrap.dedent(code), *arguments]
    ran = subprocess.run(command, env=env, cwd=home, capture_output=True, text=True, timeout=timeout)
    output = ran.stdout + ran.stderr
    if ran.returncode:
        raise AssertionError(f"the client ended with status {ran.returncode}:\n{output}")
    return Ran(json.loads(ran.stdout.rsplit("\n", 2)[-2]), output)
