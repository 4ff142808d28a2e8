"""The fast tests look at what programs of the array engine compute, not at how quickly.

So they are compiled without the optimisations that take half of the time. Those of slow tests, and
of tests that look at memory, are what a user runs.
"""

import sys

import pytest


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """Say to JAX, before any fixture of the test, how its programs are compiled."""
    jax = sys.modules.get("jax")
    if jax is not None:
        as_users_run_it = "memory" in item.nodeid or item.get_closest_marker("slow") is not None
        jax.config.update("jax_disable_most_optimizations", not as_users_run_it)


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item):
    """Tests of other folders are not concerned."""
    jax = sys.modules.get("jax")
    if jax is not None:
        jax.config.update("jax_disable_most_optimizations", False)
