"""From scores to probabilities, and how good these are."""
