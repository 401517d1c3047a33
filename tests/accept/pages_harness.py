"""What the tests of tools/report and tools/scaling share: calling them and reading their pages."""
import csv
import os
import re
import sys
import xml.etree.ElementTree as ET

import harness
from harness import check

TOOLS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools")
TOOLS = os.path.normpath(TOOLS)


def tool(suite, name, *args, status=0, env=None, timeout=120):
    """Run tools/NAME in the suite's folder; returns its standard output and error."""
    done = harness.completed([sys.executable, os.path.join(TOOLS, name), *args], timeout, cwd=suite.folder, text=True,
                             env=suite.environment(env))
    check("Traceback" not in done.stderr, done.stderr[-1500:])
    said = done.stdout[-400:] + done.stderr[-800:]
    check(done.returncode == status, f"exit {done.returncode}, expected {status}: {said}")
    return done.stdout, done.stderr


class Page:
    """A page as a tree: well-formed, complete in itself, every figure with a drawing and a sentence."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.text = file.read()
        head = "<!DOCTYPE html>"
        check(self.text.startswith(head), "no doctype")
        self.root = ET.fromstring(self.text[len(head):])  # raises where tags do not match
        self.alone()
        self.figures = {one.get("id"): one for one in self.root.iter("figure")}
        ids = [one.get("id") for one in self.root.iter() if one.get("id")]
        check(len(ids) == len(set(ids)), f"an id stands twice: {sorted(ids)}")
        for name, one in self.figures.items():
            self.whole(name, one)

    def alone(self):
        """Nothing comes from anywhere else."""
        text = re.sub(r"data:image/png;base64,[\w+/=]+", "", self.text)
        found = re.search(r"(https?:)?//[\w.]+/|@import|url\(|<script|<link|<iframe", text)
        check(not found, f"the page names something outside: {found}")
        for one in self.root.iter():
            for key in ("src", "href", "srcset"):
                value = one.get(key)
                check(value is None or value.startswith("data:image/png;base64,"), f"{one.tag} {key}={value}")

    @staticmethod
    def whole(name, one):
        drawings = [svg for svg in one.findall("svg") if svg.get("role") == "img"]
        check(len(drawings) == 1 and len(list(drawings[0])) > 5, f"figure {name} is empty")
        check(drawings[0].get("aria-label"), f"figure {name}: nothing for who cannot see it")
        places = ("d", "points", "x", "y", "width", "height", "cx", "cy")
        numbers = " ".join(v for part in drawings[0].iter() for k, v in part.attrib.items() if k in places)
        check(not re.search(r"nan|inf|None", numbers), f"figure {name}: a place that is no number")
        said = "".join(one.find("figcaption").itertext()).strip()
        check(said.endswith((".", ")")) and len(said) > 10, f"figure {name} says '{said}'")
        check(not re.search(r"\bnan\b|\binf\b", said), f"figure {name} says '{said}'")

    def heading(self):
        return "".join(self.root.find("body/main/header/h1").itertext())

    def sections(self):
        return ["".join(one.itertext()) for one in self.root.iter("h2")]

    def folded(self):
        """The line that stands for the figures of the run, and the names of the figures behind such lines."""
        details = [one for one in self.root.iter("details") if one.find(".//figure") is not None]
        check(len(details) == 1 and details[0].get("open") is None, f"{len(details)} places with folded figures")
        return "".join(details[0].find("summary").itertext()), {one.get("id") for one in details[0].iter("figure")}

    def words(self, name):
        """Texts of a drawing: ticks, names of axes."""
        return ["".join(one.itertext()) for one in self.figures[name].find("svg").iter("text")]

    def has(self, *names):
        missing = [name for name in names if name not in self.figures]
        check(not missing, f"no figure {missing}; there are {sorted(self.figures)}")

    def caption(self, name):
        return "".join(self.figures[name].find("figcaption").itertext())

    def table(self, name):
        """Rows of a table as {column: what the CSV holds}."""
        found = [one for one in self.root.iter("table") if one.get("id") == name]
        check(len(found) == 1, f"{len(found)} tables {name}")
        rows = found[0].find("tbody").findall("tr")
        return [{cell.get("data-name"): cell.get("data-csv") for cell in row} for row in rows]

    def texts(self, name):
        """Cells of a table as they are read, the titles first."""
        found = [one for one in self.root.iter("table") if one.get("id") == name]
        check(len(found) == 1, f"{len(found)} tables {name}")
        return [["".join(cell.itertext()) for cell in row] for row in found[0].iter("tr")]

    def body(self):
        return " ".join("".join(self.root.find("body").itertext()).split())


def csv_rows(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def same_as_csv(page, table, rows):
    """The page holds the numbers of the CSV, all that are not empty in every row."""
    shown = page.table(table)
    check(len(shown) == len(rows) > 0, f"{table}: {len(shown)} rows in the page, {len(rows)} in the CSV")
    for mine, theirs in zip(shown, rows):
        for name, value in theirs.items():
            check(mine.get(name, "") == value, f"{table}: {name} is {mine.get(name)} in the page, {value} in the CSV")
