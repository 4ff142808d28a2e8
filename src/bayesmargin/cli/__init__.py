"""The command line: one command a file, put together in ``main.py``.

A command reads its options and hands over; what commands share is in ``options.py`` (flags),
``output.py`` (people or JSON), ``failures.py`` (errors and exit codes), ``estimators.py`` (models
from flags), ``models.py`` (saved models with their data) and ``fitting.py`` (a fit from its
arguments, so that ``resume`` can repeat it). Nothing heavy is imported before a command runs.
"""
