"""What a file may cost: every bound that the readers of captures and traces keep, in one place.

A file from elsewhere may be damaged, or made to do harm. Each reader goes through it once, from
front to back, and what it holds at any time is bounded by the numbers below, whatever the file says
about itself. They are far above what honest files have. A file beyond one is refused with the
number; nothing is cut to fit. Recordings of ticks have bounds of their own beside their format, and
so has a line of JSON in ``json_line``.

They are no settings. A bound that a file's sender could talk a user into raising would be none.
"""

from __future__ import annotations

#: Bytes in a line of a capture. A row of the widest known file has 700; without a bound, a file
#: that has no line ends would be read into memory whole.
LONGEST_LINE = 65536

#: Consecutive blank lines: gzip makes them a thousand times cheaper to send than to read.
MOST_BLANK_LINES = 1 << 20

#: Bytes behind the last line that a crash may leave: zeros, for the most part.
LONGEST_TAIL = 64 << 20

#: Bytes looked at to tell the format. The header of every known format lies within.
HEAD = 65536

#: Streams of frames in one capture, and recordings one after the other in one file. Each stream may
#: take a block of frame times, half a megabyte, and an open file.
MAX_STREAMS = 256

#: Frames in one capture, 50 days at 240 a second: 8 GiB in the folder for temporary files, and as
#: much again while they are sorted.
MOST_FRAMES = 1 << 30

#: Characters of a JSON value that is decoded as one. As objects it takes forty times that.
LARGEST_VALUE = 1 << 20

#: Characters of a name in JSON: a process, a thread.
LONGEST_NAME = 1024

#: Brackets inside brackets in JSON that is passed over.
DEEPEST = 64

#: A gzip file may unfold to this many bytes, and beyond to so many times its own size. Captures are
#: text of numbers that differ, and shrink to a fifth or a tenth.
MAX_INFLATED_UNCHECKED = 4 << 20
MAX_INFLATE_RATIO = 32

#: Bytes of a gzip file that may go by without anything coming out. More than a piece of data takes
#: is a name without end, or empty members one after the other.
MAX_INPUT_WITHOUT_OUTPUT = 1 << 20
