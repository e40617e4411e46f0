"""What tests of the command line ask of every refusal."""

import re


def assert_refused(typed, mentioned, *, lines=1):
    """Exit code 1, nothing printed, and at last one sentence: the culprit's name, and the remedy."""
    code, printed, error = typed
    assert code == 1
    assert printed == ""
    assert error.count("\n") == lines
    *_, sentence = error.splitlines()
    assert re.search(f"^lqm: .*{mentioned}", sentence), sentence
