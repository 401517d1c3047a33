"""What the tests of family xc share: fields that are computed, and numbers compared."""
import harness
from harness import check, np


def solve(suite, tree, ranks=None, name="case"):
    """Summary lines and datasets."""
    with suite.result(tree, ranks=ranks, timeout=600, name=name) as file:
        lines = {k: float(v) for k, v in file["results"].attrs.items() if isinstance(v, np.floating)}
        return lines, harness.datasets(file)


def near(name, found, truth, limit):
    worst = float(np.abs(np.asarray(found) - np.asarray(truth)).max())
    check(worst <= limit, f"{name} is {worst:.1e} away")
