"""Games on top of the schedule: the game loop, sessions, input, timers, sounds, background work."""
