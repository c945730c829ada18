"""Both cores, side by side: what ``info`` describes and ``replay`` compares.

The rest of the program takes the core that was chosen and asks no further. Here a core that cannot
be had is not an error but something to tell, with its reason.
"""

from __future__ import annotations

import importlib
from types import ModuleType

from .. import reference

REFERENCE: ModuleType = reference


def native() -> tuple[ModuleType | None, str]:
    """The C core and an empty text, or None and why it cannot be had."""
    try:
        return importlib.import_module("fixedstep.native"), ""
    except ImportError as error:
        return None, str(error)
