"""The value of a key in a deck, as far as growing a problem needs it: block mappings with scalars."""
import math
import re

LINE = re.compile(r"^(?P<indent> *)(?P<key>[A-Za-z_][\w]*) *:(?: +(?P<value>.*))?$")


class DeckError(Exception):
    """What is wrong with a deck or with a request about it."""


def without_comment(line):
    """The line up to a # that is in no quotes and follows a blank or begins the line."""
    quote = ""
    for at, letter in enumerate(line):
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        elif letter == "#" and (at == 0 or line[at - 1].isspace()):
            return line[:at]
    return line


def scalars(text):
    """Values of all keys with a dotted path, as written."""
    found, above = {}, []  # above: (indent, key)
    for line in text.splitlines():
        match = LINE.match(without_comment(line).rstrip())
        if not match:
            continue
        indent = len(match["indent"])
        above = [(i, key) for i, key in above if i < indent] + [(indent, match["key"])]
        if match["value"]:
            found[".".join(key for _, key in above)] = match["value"].strip().strip("'\"")
    return found


class Growth:
    """KEY=POWER or KEY=BASE^POWER: the key's value is base * factor^power."""

    def __init__(self, request, known):
        match = re.fullmatch(r"([\w.]+)=(?:([^^=]+)\^)?([-+]?[\d./]+)", request)
        if not match:
            raise DeckError(f"--grow {request}: expected KEY=POWER or KEY=BASE^POWER, such as tri.generator.n=0.5")
        self.key, base, power = match.groups()
        self.power = fraction(power, request)
        if base is None and self.key not in known:
            near = [key for key in known if key.rsplit(".", 1)[-1] == self.key.rsplit(".", 1)[-1]]
            hint = f"; did you mean {near[0]}?" if near else ""
            raise DeckError(f"--grow {request}: the deck does not set {self.key}{hint} "
                            f"(give its value: {self.key}=BASE^{power})")
        text = known[self.key] if base is None else base
        try:
            self.base = float(text)
        except ValueError:
            raise DeckError(f"--grow {request}: {self.key} is '{text}', which is no number") from None
        self.whole = self.base.is_integer() and "." not in text

    def setting(self, factor):
        value = self.base * factor ** self.power
        return f"{self.key}={round(value)}" if self.whole else f"{self.key}={value:.9g}"


def fraction(text, request):
    """0.5 or 1/2."""
    try:
        above, _, below = text.partition("/")
        value = float(above) / float(below or 1)
    except (ValueError, ZeroDivisionError):
        value = math.nan
    if not math.isfinite(value) or value == 0:
        raise DeckError(f"--grow {request}: the power '{text}' is no number other than 0")
    return value
