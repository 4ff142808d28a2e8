"""Files of a folder go to one process, so that its kernels are compiled once."""

from collections import OrderedDict

from tests.spreading import ByFolder, folder


def dealt(files, turns):
    """Files that each of two processes is given, in turns; all are done with one at a time."""
    deal = ByFolder.__new__(ByFolder)
    deal.workqueue = OrderedDict((file, {}) for file in files)
    deal.assigned_work = {"a": {}, "b": {}}
    for node in turns:
        file = deal._next_file(node)
        deal.assigned_work[node][file] = deal.workqueue.pop(file)
    return [[folder(file) for file in given] for given in deal.assigned_work.values()]


def test_a_process_stays_in_its_folder_and_begins_where_nobody_is():
    files = [f"{name}/test_{k}.py" for k in range(2) for name in ("x", "y", "z")]
    assert dealt(files, "abbaab") == [["x", "x", "z"], ["y", "y", "z"]]


def test_folders_of_all_models_come_last():
    files = ["tests/docs/test_0.py", "tests/x/test_0.py", "tests/y/test_0.py"]
    assert dealt(files, "aba") == [["tests/x", "tests/docs"], ["tests/y"]]


def test_the_last_folder_is_shared():
    files = [f"x/test_{k}.py" for k in range(4)]
    assert dealt(files, "abab") == [["x", "x"], ["x", "x"]]
