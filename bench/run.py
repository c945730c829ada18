"""``python bench/run.py``: the long form, some ten minutes. What it does is in long.py."""

import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    from bench.long import main

    sys.exit(main())
