"""Cases that must be refused: a clear message, the promised exit status, and nothing left behind."""
import glob

from harness import check

LIMIT = 60  # s, for all ranks to leave


class Refusals:
    """Runs bad decks in the folder of a suite, alone and with two ranks."""

    def __init__(self, suite):
        self.suite = suite

    def listing(self):
        return {p for p in glob.glob(self.suite.path("**"), recursive=True)
                if not p.startswith(self.suite.env["XDG_CACHE_HOME"])}

    def refuse(self, deck, needles, status=2, ranks=None, args=(), output="out.h5", prepare=None, env=None):
        """Run the deck text; it must fail with the status, say the needles, leave no file."""
        self.suite.write("bad.yaml", deck)
        where = [] if output is None else ["-o", output]
        before = self.listing()
        run = self.suite.run(["run", "bad.yaml", *where, *args], ranks, timeout=LIMIT, prepare=prepare, env=env)
        check(run.status == status, f"expected exit {status}: {run.tail()}")
        check(run.err.count("tesela: error:") == 1, f"not one error line: {run.err[-800:]}")
        message = run.err[run.err.index("tesela: error:"):].splitlines()[0]
        for needle in needles:
            check(needle.lower() in message.lower(), f"no '{needle}' in: {message}")
        check("HDF5-DIAG" not in run.err and "Segmentation" not in run.err, run.err[-800:])
        left = self.listing() - before
        check(not left, f"left behind: {sorted(left)}")
        return message[15:]

    def both(self, name, *args, ranks_matter=False, **more):
        """As cases of the suite, with two ranks too unless --fast says that ranks do not matter."""
        self.suite.case(name, self.refuse, *args, **more)
        if ranks_matter or not self.suite.fast:
            self.suite.case(f"{name}, 2 ranks", self.refuse, *args, ranks=2, **more)


def change(old, new, base):
    """The deck text base with old, which is in it once, replaced."""
    check(base.count(old) == 1, f"'{old}' is not once in the deck")
    return base.replace(old, new)
