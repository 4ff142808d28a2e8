"""What one writes for a part of one's own is short, test included."""

from pathlib import Path

import pytest

LONGEST = 60
PARTS = sorted(Path(__file__).parent.glob("test_*.py"))


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.stem)
def test_a_part_and_its_test_are_short(part):
    written = [line for line in part.read_text(encoding="utf-8").splitlines() if line.strip()]
    assert len(written) <= LONGEST
