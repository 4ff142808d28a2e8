"""Reading ahead: the next piece of a file is read in a thread while this one is worked on."""

import queue
import threading
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

T = TypeVar("T")
_END = object()


def read_ahead(pieces: Callable[[], Iterator[T]], depth: int = 1) -> Iterator[T]:
    """Iterate over ``pieces()`` with up to ``depth`` pieces read in advance.

    An error of the reader is raised where the piece would have come; a consumer that stops early
    stops the reader.

    Examples
    --------
    >>> from bayesmargin.rows.readahead import read_ahead
    >>> list(read_ahead(lambda: iter("abc")))
    ['a', 'b', 'c']
    """
    waiting: queue.Queue[Any] = queue.Queue(maxsize=depth)
    stopped = threading.Event()

    def put(item: object) -> bool:
        while not stopped.is_set():
            try:
                waiting.put(item, timeout=0.1)
                return True
            except queue.Full:
                continue
        return False

    def read() -> None:
        try:
            for piece in pieces():
                if not put((piece, None)):
                    return
        except BaseException as error:
            put((None, error))
        else:
            put(_END)

    reader = threading.Thread(target=read, name="bayesmargin-reader", daemon=True)
    reader.start()
    try:
        while (item := waiting.get()) is not _END:
            piece, error = item
            if error is not None:
                raise error
            yield piece
    finally:
        stopped.set()
        reader.join()
