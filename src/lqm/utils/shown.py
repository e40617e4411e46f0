"""Words of a file in a sentence of ours."""

_LONGEST = 100


def shown(text: str) -> str:
    """A word out of a file, cut to 100 characters and without those that can't be printed.

    Example:
        >>> shown("a" + chr(27) + "[2J"), len(shown("a" * 1000))
        ('a?[2J', 103)
    """
    short = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
    return "".join(character if character.isprintable() else "?" for character in short)
