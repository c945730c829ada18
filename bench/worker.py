"""``python -m bench.worker``: the fresh process in which one row is measured."""

import sys

from .measure import serve
from .rows import ROWS

if __name__ == "__main__":
    serve(ROWS, sys.argv[1:])
