"""Chains on their way: rounds, progress, interruptions, checkpoints."""
