"""Text of foreign files on its way to a terminal or a page: as src/core/text.c does it."""
import re

# Control characters but tab and newline, and what reorders or hides the text beside it.
HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
                    "\ud800-\udfff\ufffe\uffff\U000e0000-\U000e007f]")


def plain(text):
    return HIDDEN.sub("?", str(text))


class Plain:
    """A stream that writes text made plain."""

    def __init__(self, stream):
        self.stream = stream

    def write(self, text):
        return self.stream.write(plain(text))

    def __getattr__(self, name):
        return getattr(self.stream, name)
