"""The packages that the tools need; imported before all others."""
import os
import sys

DEBIAN_PYTHON = "/usr/bin/python3"


def packages(tool):
    """Return when h5py and numpy are here; else start anew with Debian's Python, else say what to install."""
    try:
        import h5py  # noqa: F401
        import numpy  # noqa: F401
    except ImportError as error:
        if os.path.exists(DEBIAN_PYTHON) and not os.environ.get("TSL_PAGES_PYTHON"):
            os.environ["TSL_PAGES_PYTHON"] = "1"
            os.execv(DEBIAN_PYTHON, [DEBIAN_PYTHON, *sys.argv])
        sys.exit(f"{tool}: {error}; Debian: python3-h5py python3-numpy")
