"""One checkpoint for chains that run beside each other, each at its own pace.

Chains are independent, so a checkpoint may hold each of them at another sweep. When it is time,
every chain that runs puts its state down at the end of its sweep; the last one writes.
"""

import copy
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from bayesmargin.running.checkpoint import Checkpoint, NoCheckpoint

State = Callable[[], tuple[Any, list[np.ndarray]]]


class Page:
    """The place of one chain in a book; by itself a page that keeps nothing."""

    def begin(self) -> Any:
        """State that the chain goes on from, None for a new one."""
        return None

    def turn(self, state: State) -> None:
        """After a sweep."""

    def end(self, state: State) -> None:
        """After the last sweep."""


class ChainBook:
    """The states of all chains of a fit."""

    def __init__(self, checkpoint: Checkpoint | NoCheckpoint, n_chains: int) -> None:
        self.checkpoint = checkpoint
        self.states: list[Any] = checkpoint.state or [None] * n_chains
        self.fixed: list[list[np.ndarray]] = [[] for _ in range(n_chains)]
        self.running: set[int] = set()
        self.wanted: set[int] = set()
        self.lock = threading.Lock()
        active = isinstance(checkpoint, Checkpoint)
        self.pages = [BookPage(self, k) if active else Page() for k in range(n_chains)]

    def put(self, number: int, state: State) -> None:
        """Keep the state of a chain; write when it was the last that was waited for."""
        content, fixed = state()
        if len(self.running) > 1:
            # The chain goes on while others are waited for.
            content = copy.deepcopy(content, {id(array): array for array in fixed})
        self.states[number], self.fixed[number] = content, fixed
        self.wanted.discard(number)
        if not self.wanted:
            self.write()

    def write(self) -> None:
        """Write what all chains have put down."""
        assert isinstance(self.checkpoint, Checkpoint)
        self.checkpoint.write(self.states, [array for arrays in self.fixed for array in arrays])


class BookPage(Page):
    """The place of one chain in a book that is written to disk."""

    def __init__(self, book: ChainBook, number: int) -> None:
        self.book, self.number = book, number

    def begin(self) -> Any:
        """State that the chain goes on from, None for a new one."""
        with self.book.lock:
            if self.book.checkpoint.interrupted and not self.book.running:
                self.book.write()  # nobody else is left who would
            self._stop_if_asked()
            self.book.running.add(self.number)
        return self.book.states[self.number]

    def turn(self, state: State) -> None:
        """After a sweep: put the state down when it is time, stop when asked to."""
        book, checkpoint = self.book, self.book.checkpoint
        if not (book.wanted or checkpoint.interrupted or checkpoint.due()):
            return
        with book.lock:
            if not book.wanted and (checkpoint.interrupted or checkpoint.due()):
                book.wanted = set(book.running)
            if self.number in book.wanted:
                book.put(self.number, state)
            self._stop_if_asked()

    def end(self, state: State) -> None:
        """After the last sweep: the final state waits for the other chains."""
        book = self.book
        with book.lock:
            book.running.discard(self.number)
            if self.number in book.wanted:
                book.put(self.number, state)
            else:
                book.states[self.number], book.fixed[self.number] = state()

    def _stop_if_asked(self) -> None:
        checkpoint = self.book.checkpoint
        if isinstance(checkpoint, Checkpoint) and checkpoint.interrupted:
            checkpoint.stopped = True
            self.book.running.discard(self.number)
            raise KeyboardInterrupt
