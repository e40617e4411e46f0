"""What is kept to be used again, and how much of the disk it takes."""

from typing import Annotated

import tyro

from lqm.cli.arguments import Name
from lqm.cli.output import USUAL, Printed
from lqm.utils.log import say


def cache(
    *,
    clean: Name = None,
    older_than: Annotated[str | None, tyro.conf.arg(metavar="AGE", help_behavior_hint="")] = None,
    output: Printed = USUAL,
) -> None:
    """List what is cached, with sizes and ages; clean it.

    Example: lqm cache --clean images --older-than 30d

    Decoded images, graphs, scores of networks, overlaps of test with training images, sets that audits
    condensed, and the places of data, which sets don't name, are kept in LQM_CACHE, else in .cache/lqm of
    the home folder, up to LQM_CACHE_LIMIT (default 20GB); what was used longest ago goes first.

    Args:
        clean: Delete files of one kind: images, graphs, scores, overlaps, condensed-again, places; or all.
            They are made again when needed; without places, say --source once more.
        older_than: Of these, only files that were not used for so long, such as 30d or 12h.
        output: How it is printed.
    """
    import time

    from rich.console import Console

    from lqm.report.run_table import age_in_words
    from lqm.report.tables import plain_table
    from lqm.utils.cache import cache_folder
    from lqm.utils.cache_files import KINDS, cache_entries, cache_limit, clean_cache, parse_age
    from lqm.utils.errors import ConfigError
    from lqm.utils.limits import size_text
    from lqm.utils.names import choose

    root, limit = cache_folder(), cache_limit()
    count = freed = 0
    if clean is None and older_than is not None:
        raise ConfigError("--older-than says what to clean; give --clean all, or the name of a kind, too")
    if clean is not None:
        chosen = choose(clean, {"all": KINDS, **{kind: (kind,) for kind in KINDS}}, "kind of files")
        count, freed = clean_cache(root, chosen, parse_age(older_than) if older_than else 0.0)
        if not output.json:
            say(f"deleted {count:,} files, {size_text(freed)}")
    entries, now = cache_entries(root), time.time()
    by_kind = {kind: [entry for entry in entries if entry.kind == kind] for kind in KINDS}
    if output.json:
        from lqm.cli.documents import CacheDocument
        from lqm.cli.documents.listings import CachedEntry

        kinds = [
            CachedEntry(
                kind=kind,
                files=len(own),
                bytes=sum(entry.size for entry in own),
                last_used=own[-1].used if own else None,
                longest_unused=own[0].used if own else None,
            )
            for kind, own in by_kind.items()
        ]
        output.document(
            CacheDocument(
                folder=str(root),
                bytes=sum(entry.size for entry in entries),
                limit=limit,
                deleted_files=count,
                deleted_bytes=freed,
                kinds=kinds,
            )
        )
        return
    rows = []
    for kind, own in by_kind.items():
        ages = [age_in_words(now - own[place].used) for place in (-1, 0)] if own else ["-", "-"]
        rows.append((kind, f"{len(own):,}", size_text(sum(entry.size for entry in own)), *ages))
    total = size_text(sum(entry.size for entry in entries))
    Console().print(plain_table(("kind", "files", "size", "last used", "longest unused"), rows))
    say(f"{total} of at most {size_text(limit)} in {root}")
