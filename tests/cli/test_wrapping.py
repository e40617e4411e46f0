"""Long lines, such as that of the settings, on a terminal."""

import fcntl
import io
import os
import pty
import struct
import termios

import pytest

from lqm.utils.log import write_line

LINE = (
    "lqm: recipe dm-10: steps=300, learning_rate=3.0, momentum=0.5, real_batch=256, init=random, "
    "network=convnet:width=64:depth=2, clip=each-update, update=summed, augmentation=crop,scale,rotate"
)


def on_terminal(line, columns):
    """What a terminal of so many columns is sent."""
    reader, writer = pty.openpty()
    fcntl.ioctl(writer, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    with os.fdopen(writer, "w") as stream:
        write_line(line, stream, wrapped=True)
        sent = os.read(reader, 100_000).decode()
    os.close(reader)
    return sent.splitlines()


@pytest.mark.parametrize("columns", [40, 80, 120])
def test_the_line_of_settings_is_wrapped_between_words(columns):
    lines = on_terminal(LINE, columns)
    assert len(lines) > 1
    assert max(map(len, lines)) <= columns
    assert " ".join(lines).split() == LINE.split()
    assert all(line.startswith("  ") for line in lines[1:])


def test_a_word_that_is_wider_than_the_terminal_stays_whole():
    word = "network=convnet:width=64:depth=2"
    assert f"  {word}" in on_terminal(f"lqm: steps=300 {word} zca=true", 24)


def test_a_file_gets_one_line():
    write_line(LINE, stream := io.StringIO(), wrapped=True)
    assert stream.getvalue() == f"{LINE}\n"
