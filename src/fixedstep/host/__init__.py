"""What may touch the machine: the only folder whose files read a clock or sleep.

Kept apart so that everything else can be tested with numbers, and so that a search for a clock has
one folder to look in. Nothing below imports it.
"""
