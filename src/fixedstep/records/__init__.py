"""What is written down: traces of frames, recordings of ticks, and how two of them are compared."""
