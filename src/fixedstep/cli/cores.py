"""Both cores, side by side: what ``info`` describes and ``replay`` compares.

Other code uses the core that was chosen. Here a core that cannot be loaded is no error: its reason
is printed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType


def native_core() -> tuple[ModuleType | None, str]:
    """The C core and an empty text, or None and why it cannot be had."""
    try:
        from .. import native
    except ImportError as error:
        return None, str(error)
    return native, ""
