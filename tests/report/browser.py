"""Opening a page in headless Chromium and reading what it prints to its console."""

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage", "--enable-logging=stderr",
)  # fmt: skip


def open_page(page: Path, width: int = 1000) -> tuple[str, list[str]]:
    """The page's markup after its script has run, and the lines of its console."""
    assert CHROMIUM is not None
    with tempfile.TemporaryDirectory() as profile:
        done = subprocess.run(
            [
                CHROMIUM, *FLAGS, f"--user-data-dir={profile}", f"--window-size={width},900",
                "--virtual-time-budget=2000", "--dump-dom", page.as_uri(),
            ],
            capture_output=True, text=True, timeout=90, check=True,
        )  # fmt: skip
    lines = re.findall(r"CONSOLE[^\]]*\]\s*(.*)", done.stderr)
    return done.stdout, lines
