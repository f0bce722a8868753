"""Lazy properties: computed once, kept by the instance, and the same for all threads."""

import threading

from kinetree.base.lazy import lazy


class Box:
    def __init__(self):
        self.made = []

    @lazy
    def content(self):
        """What is inside."""
        self.made.append(len(self.made))
        return [self.made[-1]]


def test_it_is_computed_once_for_each_instance():
    box, other = Box(), Box()
    assert not box.made
    assert box.content is box.content and box.made == [0]
    assert other.content is not box.content
    assert Box.content.__doc__ == "What is inside." and isinstance(Box.content, lazy)


def test_it_is_kept_where_it_can_be_forgotten():
    box = Box()
    first = box.content
    assert vars(box)["content"] is first
    del box.content
    assert box.content is not first and box.made == [0, 1]


def test_what_fails_is_not_kept():
    class Faulty(Box):
        @lazy
        def content(self):
            self.made.append("tried")
            return 1 / (len(self.made) - 1)

    box = Faulty()
    for _ in range(2):
        try:
            assert box.content == 1.0
        except ZeroDivisionError:
            assert box.made == ["tried"]
    assert box.made == ["tried", "tried"]


def test_threads_that_ask_together_get_the_same():
    """None waits for the other: both compute it, and the first to finish is heard."""
    both = threading.Barrier(2, timeout=20)

    class Shared:
        @lazy
        def value(self):
            both.wait()
            return object()

    shared, got = Shared(), []
    threads = [threading.Thread(target=lambda: got.append(shared.value)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert len(got) == 2 and got[0] is got[1] is shared.value
