"""Files that the tools write: whole or not at all, and none that matters is replaced."""
import os
import sys

HEAD = 8  # bytes that tell a page or a picture from anything else


def refuse(text):
    print(text, file=sys.stderr)
    raise SystemExit(2)


def is_same(one, other):
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False


def check(path, inputs=()):
    """May the path be written? Neither an input, by whatever name, nor through a link."""
    for name in (path, f"{path}.part"):
        if any(is_same(name, source) for source in inputs if source):
            refuse(f"{name} is an input; choose another name")
        if os.path.islink(name):
            refuse(f"{name} is a link; give the file's own name")
    if os.path.exists(path) and not os.path.isfile(path):
        refuse(f"{path} is no regular file")


def put(path, data, inputs=()):
    """Write it; a file that is there is replaced by one of its kind only: a page by a page."""
    data = data.encode() if isinstance(data, str) else data
    check(path, inputs)
    if os.path.exists(path):
        with open(path, "rb") as old:
            head = old.read(HEAD)
        if head and head != data[:HEAD]:
            refuse(f"{path} is there and is of another kind; it is not replaced")
    part = f"{path}.part"
    try:
        stream = open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o666), "wb")
    except OSError as why:
        refuse(f"{path}: {why.strerror}")
    try:
        with stream:
            stream.write(data)
        os.replace(part, path)
    except OSError as why:
        if os.path.exists(part):
            os.remove(part)
        print(f"{path}: {why.strerror}", file=sys.stderr)
        raise SystemExit(3) from None
