"""Reading an output file: texts, units, and samples of what is large."""
import os
import sys

import h5py
import numpy as np

SAMPLE = 32_000_000  # elements read for one picture
FORMAT = 1           # layout of the files these tools know
DEPTH = 16           # of groups in groups, and
OBJECTS = 20_000     # groups and datasets, that no output has


def text_of(value):
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def attribute(group, name, default=""):
    value = group.attrs.get(name, default)
    return text_of(value) if isinstance(value, (bytes, str)) else value


def stored_text(file, path):
    return text_of(file[path][()]) if path in file else ""


def unit_of(dataset):
    unit = attribute(dataset, "unit", "1")
    return "" if unit == "1" else unit


def quantity_of(dataset, other="value"):
    """What the values are, as an axis says it; other where the file does not say it."""
    return str(attribute(dataset, "quantity")) or other


def labelled(word, unit):
    return f"{word} ({unit})" if unit else word


def axis_of(dataset):
    """Name of an axis along which its values stand."""
    return labelled(quantity_of(dataset), unit_of(dataset))


def blocks(dataset, limit=SAMPLE):
    """At most limit elements, as evenly spaced contiguous blocks of rows; and whether that is all."""
    rows = dataset.shape[0]
    wide = int(np.prod(dataset.shape[1:], dtype=np.int64)) or 1
    most = max(1, limit // wide)
    if rows <= most:
        return dataset[...], True
    count = 64
    length = max(1, most // count)
    starts = np.linspace(0, rows - length, count).astype(np.int64)
    return np.concatenate([dataset[s:s + length] for s in starts]), False


class Unfit(Exception):
    """A file that is no output of this version, and why."""


def leads_out(file):
    """The first name below / that is a link out of its group, or whose values lie in other files; or None.
    ValueError: more groups and datasets, or deeper, than any output has."""
    left, seen = [(file, "", 0)], 0
    while left:
        group, path, depth = left.pop()
        seen += len(group)
        if depth > DEPTH or seen > OBJECTS:
            raise ValueError(f"more than {OBJECTS} objects, or groups nested deeper than {DEPTH}: no output has these")
        for name in group:
            if not isinstance(group.get(name, getlink=True), h5py.HardLink):
                return f"{path}/{name}"
            item = group[name]
            if isinstance(item, h5py.Group):
                left.append((item, f"{path}/{name}", depth + 1))
            elif isinstance(item, h5py.Dataset) and (item.is_virtual or item.external):
                return f"{path}/{name}"
    return None


def opened(path):
    """The open file; Unfit when it is no output of `tesela run`."""
    if not os.path.isfile(path):
        raise Unfit(f"{path}: not a regular file")
    try:
        file = h5py.File(path, "r")
    except OSError as error:
        raise Unfit(f"{path}: {error}") from None
    try:
        astray = leads_out(file)
    except ValueError as error:
        file.close()
        raise Unfit(f"{path}: {error}") from None
    if astray is not None:
        file.close()
        raise Unfit(f"{path}: {astray} leads to another place or file; outputs of `tesela run` have no such links")
    missing = [part for part in ("run/units", "run/machine", "results") if part not in file]
    if missing or "tesela_format" not in file.attrs:
        file.close()
        raise Unfit(f"{path} is not an output of `tesela run`")
    layout = int(file.attrs["tesela_format"])
    if layout != FORMAT:
        file.close()
        raise Unfit(f"{path} has layout {layout}; this tool knows {FORMAT}")
    return file


def opened_or_end(path, tool):
    try:
        return opened(path)
    except Unfit as error:
        sys.exit(f"{tool}: {error}")
