"""Bytes of a file to text, as the file itself says it is encoded."""

from __future__ import annotations

import codecs
import re

_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF32_LE, "utf-32-le"), (codecs.BOM_UTF32_BE, "utf-32-be"),
          (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))  # fmt: skip
#: PEP 263: a comment in one of the first two lines.
_COOKIE = re.compile(rb"\A(?:[ \t\f]*(?:#[^\r\n]*)?(?:\r\n?|\n))?[ \t\f]*#[^\r\n]*?coding[:=][ \t]*([-\w.]+)")
#: Encodings of text; Python has others that decompress or take a quadratic time.
_TEXT = re.compile(r"ascii|utf-?(?:8|16|32)|iso8859|cp\d|koi8|gb|big5|euc|shift_?jis|mac|johab|hz|tis|kz|ptcp")


def decoded(content: bytes, python: bool) -> tuple[str, bool]:
    """The text without its byte-order mark, and whether every byte of it could be read.

    `python`: a declaration in the first two lines counts.
    """
    encoding = "utf-8"
    for mark, its in _MARKS:
        if content.startswith(mark):
            encoding, content = its, content[len(mark) :]
            break
    else:
        if python and (match := _COOKIE.match(content)):
            encoding = _known(match[1].decode("ascii", "replace")) or encoding
    try:
        return content.decode(encoding), True
    except UnicodeDecodeError:
        return content.decode(encoding, "replace"), False


def is_binary(content: bytes) -> bool:
    """Whether bytes are no text: a NUL without a mark of UTF-16 or UTF-32."""
    return b"\0" in content and not any(content.startswith(mark) for mark, _ in _MARKS[1:])


def _known(name: str) -> str:
    try:
        found = codecs.lookup(name).name
    except (LookupError, ValueError):
        return ""
    return found if _TEXT.match(found) else ""
