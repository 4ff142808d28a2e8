"""How it is sampled: one transition a file."""
