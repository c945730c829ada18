"""A fast small ball at 20 ticks a second, drawn in every frame: one program for three toolkits.

`model` has the ball, the keys and the numbers on screen; `in_pygame`, `in_pyglet` and `in_arcade`
open a window and draw it, which is all that differs. ``fixedstep demo --window`` runs them, so they
are here and not among the examples, which are not installed.

It refuses to be a game, and to be imported by anything but the command and the examples.
"""
