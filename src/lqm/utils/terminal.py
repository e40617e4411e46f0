"""Text on its way to a terminal: names from outside may hold characters that command it."""

import unicodedata

# Characters that a terminal obeys, or that change the order or the lines of what is shown.
_HIDDEN = {"Cc", "Cf", "Cs", "Zl", "Zp"}
# They join letters in some scripts, and do nothing else.
_JOINERS = "\u200c\u200d"


def visible(text: object) -> str:
    r"""A text in one line, with every character that would not be seen written as its escape.

    Example:
        >>> print(visible("a\x1b[31m\nb\u202e"))
        a\x1b[31m\nb\u202e
    """
    return "".join(map(_shown, str(text)))


def shown(text: object, longest: int = 100) -> str:
    r"""The same, cut to so many characters: a word out of a file, in a sentence of ours.

    Example:
        >>> print(shown("a\x1b[2J"), len(shown("a" * 1000)))
        a\x1b[2J 103
    """
    whole = visible(str(text)[: longest + 1])
    return whole if len(whole) <= longest else f"{whole[:longest]}..."


def visible_lines(text: object) -> str:
    r"""The same of a text whose line breaks are ours.

    Example:
        >>> print(visible_lines("a\x07\nb"))
        a\x07
        b
    """
    return "\n".join(map(visible, str(text).split("\n")))


def _shown(letter: str) -> str:
    if unicodedata.category(letter) not in _HIDDEN or letter in _JOINERS:
        return letter
    return letter.encode("unicode_escape").decode("ascii")
