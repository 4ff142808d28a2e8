"""Bytes of text files as lines of text."""

COMPRESSED = (".gz", ".bz2", ".xz", ".zst", ".zip")  # endings of packed files
UTF_16 = (b"\xff\xfe", b"\xfe\xff")


def decoded(content: bytes) -> str:
    """Text in UTF-8, or in UTF-16 where a mark at the beginning says so; marks are left out.

    Examples
    --------
    >>> from bayesmargin.tables.text import decoded
    >>> decoded("tulip".encode("utf-8-sig")), decoded("tulip".encode("utf-16"))
    ('tulip', 'tulip')
    """
    return content.decode("utf-16" if content[:2] in UTF_16 else "utf-8-sig")


def split_lines(text: str) -> list[str]:
    """Lines that end in a line feed; other characters that could end one stay in the text."""
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    return lines[:-1] if lines and not lines[-1] else lines
