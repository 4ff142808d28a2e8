"""Sums do not depend on where arrays lie.

Sums in kernels may be reordered (``foundation.compiling.FASTMATH``). Of a loop that writes one
array while it sums what it reads from another, there are two forms in machine code, and which one
runs is decided by the distance of the arrays in memory: short ones that lie close give other last
bits, and equal seeds other draws. Products of 20 numbers in single precision do, 8 in double. So
such loops are written as two.
"""

import ast
from pathlib import Path

import bayesmargin

SOURCES = Path(bayesmargin.__file__).parent
KERNELS = {"jit", "borrowing_jit", "inner_jit", "inner_borrowing_jit", "implements"}
PLAIN = {"range", "min", "max", "abs", "sqrt"}  # calls that leave a loop to be vectorised
EXACT = {"n_heavy"}  # counts of rows


def test_no_loop_of_a_kernel_writes_one_array_and_sums_another():
    found = []
    for file in SOURCES.rglob("*.py"):
        for function in _kernels(ast.parse(file.read_text(encoding="utf-8"))):
            found += [
                f"{file.name}: {function.name}" for loop in _innermost(function) if _mixed(loop)
            ]
    assert not found


def test_such_loops_are_found():
    source = "for j in range(n):\n    out[j] = row[j] * weight[j]\n    total += out[j]"
    assert _mixed(ast.parse(source).body[0])
    apart = "for j in range(n):\n    total += row[j] * weight[j]"
    assert not _mixed(ast.parse(apart).body[0])


def _kernels(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            names = [d.func if isinstance(d, ast.Call) else d for d in node.decorator_list]
            if any(isinstance(name, ast.Name) and name.id in KERNELS for name in names):
                yield node


def _innermost(function):
    for loop in ast.walk(function):
        if isinstance(loop, ast.For):
            inside = [node for node in ast.walk(loop) if node is not loop]
            if not any(isinstance(node, ast.For | ast.While) for node in inside):
                yield loop


def _mixed(loop):
    nodes = list(ast.walk(loop))
    calls = [node.func for node in nodes if isinstance(node, ast.Call)]
    if any(getattr(c, "id", getattr(c, "attr", "")) not in PLAIN for c in calls):
        return False
    entries = [node for node in nodes if isinstance(node, ast.Subscript)]
    written = {_array(one) for one in entries if isinstance(one.ctx, ast.Store)}
    read = {_array(one) for one in entries if isinstance(one.ctx, ast.Load)}
    sums = [node for node in nodes if isinstance(node, ast.AugAssign)]
    summed = [one for one in sums if isinstance(one.target, ast.Name) and not _is_count(one)]
    return bool(written and read - written and summed)


def _is_count(sum_):
    return sum_.target.id in EXACT or isinstance(getattr(sum_.value, "value", None), int)


def _array(entry):
    return ast.unparse(entry.value)
