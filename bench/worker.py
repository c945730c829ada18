"""The fresh process in which one row of the long form is measured."""

import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    from bench.suite import rows

    from fixedstep.cli.bench.measure import serve

    serve(rows(), sys.argv[1:])
