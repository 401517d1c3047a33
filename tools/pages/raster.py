"""Pictures: values as colours, PNG as data URI, and a chart around it with axes and a colour bar."""
import base64
import struct
import zlib

import numpy as np

from . import svg

# viridis by Stefan van der Walt and Nathaniel Smith (CC0): 256 colours of 3 bytes
VIRIDIS = np.frombuffer(base64.b64decode(
    "RAFURAJVRANXRQVYRQZaRQhbRglcRgteRgxfRg5hRw9iRxFjRxJlRxRmRxVnRxZpRxhqSBlrSBpsSBxuSB1vSB5wSCBx"
    "SCFySCJzSCN0RyV1RyZ2Ryd3Ryh4Ryp5Ryt6Ryx7Ri18Ri98RjB9RjF+RTJ/RTR/RTWARTaBRDeBRDmCQzqDQzuDQzyE"
    "Qj2EQj6FQkCFQUGGQUKGQEOHQESHP0WHP0eIPkiIPkmJPUqJPUuJPUyJPE2KPE6KO1CKO1GKOlKLOlOLOVSLOVWLOFaL"
    "OFeMN1iMN1mMNlqMNluMNVyMNV2MNF6NNF+NM2CNM2GNMmKNMmONMWSNMWWNMWaNMGeNMGiNL2mNL2qNLmuOLmyOLm2O"
    "LW6OLW+OLHCOLHGOLHKOK3OOK3SOKnWOKnaOKneOKXiOKXmOKHqOKHqOKHuOJ3yOJ32OJ36OJn+OJoCOJoGOJYKOJYON"
    "JISNJIWNJIaNI4eNI4iNI4mNIomNIoqNIouNIYyNIY2MIY6MII+MIJCMIJGMH5KMH5OLH5SLH5WLH5aLHpeKHpiKHpmK"
    "HpmKHpqJHpuJHpyJHp2IHp6IHp+IHqCHH6GHH6KGH6OGIKSFIKWFIaaFIaeEIqeEI6iDI6mCJKqCJauBJqyBJ62AKK5/"
    "Ka9/KrB+K7F9LLF9LrJ8L7N7MLR6MrV6M7Z5Nbd4Nrh3OLl2Obl2O7p1Pbt0PrxzQL1yQr5xRL5wRb9vR8BuScFtS8Js"
    "TcJrT8NpUcRoU8VnVcZmV8ZlWcdkW8hiXslhYMlgYspfZMtdZ8xcacxba81Zbc5YcM5Wcs9VdNBUd9BSedFRfNJPftJO"
    "gdNMg9NLhtRJiNVHi9VGjdZEkNZDktdBldc/l9g+mtg8ndk6n9k4oto3pdo1p9szqtsyrdwwr9wust0std0rt90put4n"
    "vd4mv98kwt8ixd8hx+AfyuAezeAdz+Ec0uEb1OEa1+IZ2uIY3OIY3+MY4eMY5OMY5+QZ6eQZ7OQa7uUb8eUc8+Ue9uYf"
    "+OYh+uYi/eck"), np.uint8).reshape(256, 3)
BAR = 86  # pixels right of the plot for a colour bar


def png(pixels):
    """Bytes of a PNG file; pixels: u8 [rows][columns] grey or [rows][columns][3]."""
    rows, columns = pixels.shape[:2]
    grey = pixels.ndim == 2
    lines = np.zeros((rows, 1 + columns * (1 if grey else 3)), np.uint8)
    lines[:, 1:] = pixels.reshape(rows, -1)

    def chunk(name, data):
        body = name + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    head = struct.pack(">IIBBBBB", columns, rows, 8, 0 if grey else 2, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(lines.tobytes(), 6)) +
            chunk(b"IEND", b""))


def uri(pixels):
    return "data:image/png;base64," + base64.b64encode(png(pixels)).decode()


def coloured(values, lo, hi, log=False, outside=(128, 128, 128)):
    """viridis from lo to hi; what is not finite gets the colour outside."""
    good = np.isfinite(values) & ((values > 0) | (not log))
    shown = np.where(good, values, lo).astype(float)
    share = np.log(shown / lo) / np.log(hi / lo) if log else (shown - lo) / (hi - lo)
    pixels = VIRIDIS[np.clip(share * 255 + 0.5, 0, 255).astype(int)]
    pixels[~good] = outside
    return pixels


def smaller(pixels, most):
    """Every so many rows and columns, so that there are at most so many of each."""
    step = [max(1, -(-extent // most)) for extent in pixels.shape[:2]]
    return pixels[::step[0], ::step[1]]


class Range:
    """The values that the colours stand for."""

    def __init__(self, values, log=False, lo=None, hi=None):
        good = values[np.isfinite(values) & ((values > 0) | (not log))]
        self.log = log
        self.lo = float(good.min()) if lo is None and good.size else (lo if lo is not None else 1.0)
        self.hi = float(good.max()) if hi is None and good.size else (hi if hi is not None else 2.0)
        if not self.hi > self.lo:
            self.hi = self.lo * 1.01 if log else self.lo + (abs(self.lo) or 1.0)


def height_of(rows, columns, y, bar):
    """Height of a chart whose plot has about the shape of the picture."""
    wide = svg.WIDTH - svg.room_for(y) - (BAR if bar else svg.RIGHT)
    return int(np.clip(wide * rows / columns, 160, 620)) + svg.TOP + svg.BOTTOM


def framed(pixels, extent, labels, says, span=None, word="value", square=True):
    """Chart around a picture. extent: values at left, right, bottom, top; span: Range of the colour bar."""
    rows, columns = pixels.shape[:2]
    x0, x1, y1, y0 = extent
    y = Upward(y0, y1)
    height = height_of(rows, columns, y, span is not None) if square else svg.HEIGHT + 40
    chart = svg.Chart(svg.Scale(min(x0, x1), max(x0, x1)), y, *labels, height=height, grid="",
                      right=BAR if span is not None else svg.RIGHT, says=says)
    chart.image(uri(pixels), x0, x1, y0, y1)
    if span is not None:
        colour_bar(chart, span, word)
    return chart


class Upward(svg.Scale):
    """A vertical axis whose upper end is given first; values may fall or rise towards it."""

    def __init__(self, top, bottom):
        self.top, self.bottom = top, bottom
        super().__init__(min(top, bottom), max(top, bottom))

    def at(self, value):
        return (value - self.bottom) / (self.top - self.bottom)


def colour_bar(chart, span, word):
    """Right of the plot, as high as it."""
    steps = uri(VIRIDIS[::-1].reshape(256, 1, 3))
    x, top, bottom = chart.width - BAR + 14, svg.TOP, chart.height - svg.BOTTOM
    chart.parts.append(f'<image x="{x}" y="{top}" width="12" height="{bottom - top}" '
                       f'preserveAspectRatio="none" href="{steps}"/>')
    scale = svg.Scale(span.lo, span.hi, span.log)
    for tick in scale.ticks:
        y = svg.rounded(bottom - scale.at(tick) * (bottom - top) + 4.5)
        chart.parts.append(f'<text x="{x + 16}" y="{y}">{svg.plain(tick)}</text>')
    chart.parts.append(f'<text x="{x + 12}" y="{chart.height - 10}" text-anchor="middle">{svg.escape(word)}</text>')


def larger(pixels, least):
    """Each pixel so many times, that the longer side has at least `least` of them."""
    times = -(-least // max(1, *pixels.shape[:2]))
    return pixels.repeat(times, axis=0).repeat(times, axis=1)
