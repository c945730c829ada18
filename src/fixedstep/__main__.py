"""``python -m fixedstep``: the command line, where no script was installed."""

import sys

from .cli import main

if __name__ == "__main__":
    sys.exit(main())
