"""Counts that grow: of some files, those are counted and added that the list in a counts file does not have."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from termsieve.counts.counting import count
from termsieve.counts.counts_file import CountsFile
from termsieve.counts.manifest import CountedFile, identify_files, read_manifest, write_manifest
from termsieve.counts.merging import save_sum
from termsieve.counts.spilling import count_to_file
from termsieve.documents import Documents
from termsieve.threads import count_cores
from termsieve.tokens.analyzer import Analyzer


class NewFiles(NamedTuple):
    """Files that a counts file does not have yet.

    Attributes
    ----------
    documents : Documents
        The documents of these files.
    new, known : list of CountedFile
        These files, and those that the counts file has.
    n_counted : int
        How many of the named files are counted already.
    analyzer : Analyzer or None
        What made the terms of the counts file; None where there is no such file yet.
    """

    documents: Documents
    new: list[CountedFile]
    known: list[CountedFile]
    n_counted: int
    analyzer: Analyzer | None


def find_new_files(documents: Documents, path: Path) -> NewFiles:
    """Find the files that are not in the list of a counts file, by their content; nothing is counted yet."""
    named = identify_files(documents.paths)
    known, analyzer = [], None
    if path.exists():
        with CountsFile(path) as file:
            known, analyzer = read_manifest(file), file.head.analyzer
    counted = {one.sha256 for one in known}
    new = [one for one in named if one.sha256 not in counted]
    return NewFiles(documents.only_files({one.name for one in new}), new, known, len(named) - len(new), analyzer)


def add_new_files(
    found: NewFiles,
    path: Path,
    *,
    analyzer: Analyzer | None = None,
    threads: int | None = None,
    memory: str | int | None = None,
    spill_folder: str | Path | None = None,
    resume: bool = False,
    progress: bool = False,
) -> None:
    """Count new files, and add them to the counts and the list in a counts file, which is made if it is not there.

    The analyzer is that of the counts file, without this; the other parameters are those of `count` and
    `count_to_file`. What is counted is in a file beside it until the sum is written, so the counts file has all of the
    new files or none.
    """
    analyzer, part = analyzer or found.analyzer, path.with_name(f"{path.name}.new")
    try:
        if memory is None:
            count(found.documents, analyzer=analyzer, threads=threads, progress=progress).save(part)
        else:
            count_to_file(
                found.documents, part, memory=memory, analyzer=analyzer, threads=threads, spill_folder=spill_folder,
                resume=resume, progress=progress,
            ).close()  # fmt: skip
        parts = [path, part] if path.exists() else [part]
        save_sum(parts, path, threads or count_cores(), files=write_manifest([*found.known, *found.new]))
    finally:
        part.unlink(missing_ok=True)
