"""The pinned environment: every package by version and hash, and nothing that says where it comes from."""

import re
from pathlib import Path

LINES = (Path(__file__).parents[1] / "requirements.txt").read_text().splitlines()


def test_only_pins_and_hashes():
    """No address, no path, no option but the hashes."""
    pin = re.compile(r"[a-z0-9][a-z0-9.-]*==[0-9][0-9a-z.]* \\")
    digest = re.compile(r"    --hash=sha256:[0-9a-f]{64}( \\)?")

    assert [line for line in LINES if not pin.fullmatch(line) and not digest.fullmatch(line)] == []


def test_every_pin_has_a_hash():
    """A pin is followed by at least one hash."""
    pins = [number for number, line in enumerate(LINES) if "==" in line]

    assert pins
    assert [LINES[number] for number in pins if "--hash=" not in LINES[number + 1]] == []
