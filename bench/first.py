"""``python bench/first.py``: the first figures, in seconds: begin_frame and the documented body.

On the C core and on the reference, with the rows of ``fixedstep bench`` and no others.
"""

from fixedstep.cli.bench import COMMAND, FRAME_ROWS
from fixedstep.cli.bench.measure import SHORT, fresh
from fixedstep.cli.bench.rows import ROWS
from fixedstep.cli.bench.table import claims, machine, times

if __name__ == "__main__":
    print(machine())
    results = [fresh(COMMAND, row, SHORT) for row in ROWS if row.name in FRAME_ROWS]
    for result in results:
        print(f"\n{times(result)}")
    print(f"\n{claims(results)}")
