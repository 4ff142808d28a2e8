"""The estimators: each model keeps its own mathematics and shares the samplers and the hinge."""
