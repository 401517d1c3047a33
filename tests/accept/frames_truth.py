"""Frames as text, and distances between nearest images, for the tests of frames."""
from harness import np


def xyz_text(frames, comment="Properties=species:S:1:pos:R:3", before=(), after=()):
    """frames: (places, cell or None); before, after: columns beside the places."""
    text = ""
    for x, cell in frames:
        box = "" if cell is None else f'Lattice="{" ".join(repr(float(v)) for v in cell.ravel())}" '
        text += f"{len(x)}\n{box}{comment}\n"
        for p in x:
            text += " ".join(["Ar", *before, *(repr(float(v)) for v in p), *after]) + "\n"
    return text


def nearest(d, cell, periodic=(True, True, True), reach=1):
    """Lengths of differences d, of their images up to `reach` cells away the nearest; cell None: as they are."""
    if cell is None:
        return np.linalg.norm(d, axis=1)
    s = d @ np.linalg.inv(cell)
    s -= np.where(periodic, np.round(s), 0)
    best = np.full(len(s), np.inf)
    for image in np.ndindex(*[2 * reach + 1] * 3):
        shift = np.where(periodic, np.array(image) - reach, 0)
        best = np.minimum(best, np.linalg.norm((s + shift) @ cell, axis=1))
    return best
