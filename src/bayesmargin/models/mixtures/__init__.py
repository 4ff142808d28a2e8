"""What the classifiers built on Dirichlet-process mixtures have in common."""
