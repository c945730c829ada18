"""A ball that moves 20 times a second and is drawn in every frame: one program, three toolkits.

`model` has the ball, the keys and the numbers on screen; `in_pygame`, `in_pyglet` and `in_arcade`
open a window and draw it, which is all that differs. ``fixedstep demo --window`` runs them, so they
are here and not among the examples, which are not installed.

It refuses to be a game, and to be imported by anything but the command and the examples.
"""
