"""Estimators with the scikit-learn interface, one model a module or package."""
