"""get(): archives to the converted form."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from termsieve._progress import track
from termsieve.datasets.catalogue import lookup_dataset
from termsieve.datasets.downloads import MessageCallback, compute_sha256, download, read_checksum, write_checksum
from termsieve.datasets.json_form import ConversionSummary, compress_lines
from termsieve.datasets.locations import list_folders, locate
from termsieve.datasets.records import Archive, Dataset, Document
from termsieve.errors import InputError
from termsieve.files import make_folder, write_atomically

ARCHIVES_FOLDER = "archives"


def get(
    name: str,
    source: str | Path | Sequence[str | Path] | None = None,
    folder: str | Path | None = None,
    *,
    progress: bool = False,
    unverified: bool = False,
    tell: MessageCallback | None = None,
) -> Path:
    """Download a corpus from its original site, verify it, and convert it to JSON lines.

    Parameters
    ----------
    name : str
        One of `CORPORA`.
    source : path or list of paths, optional
        Archives that you have already, or a folder that holds them, instead of a download.
    folder : path, optional
        Where to put the converted form and, in ``archives``, the downloads (default: the folder that TERMSIEVE_DATA
        names, or the cache of the user).
    progress : bool
        Show the progress on standard error.
    unverified : bool
        Also accept archives with another checksum or number of documents: another edition, or the same files packed
        again.
    tell : callable, optional
        Called with messages, such as the checksum of an archive for which none was known.

    Returns
    -------
    Path
        The converted form, ``<name>.jsonl.gz``.
    """
    corpus, say = lookup_dataset(name), tell or _ignore_message
    if corpus.converter is None:
        raise InputError(f"{name} cannot be downloaded. {corpus.note} {_describe_expected(corpus)}")
    if source is None and folder is None and (here := locate(name)) is not None:
        say(f"{name} is already here: {here}")
        return here
    place = Path(folder) if folder is not None else list_folders()[0]
    make_folder(place, corpus.file_name)
    target = place / corpus.file_name
    if source is None:
        return _download_and_convert(corpus, target, progress=progress, unverified=unverified, say=say)
    files = _match_archives(corpus, [source] if isinstance(source, (str, Path)) else source)
    if not unverified:
        _check_checksums(corpus, files)
    _convert(corpus, files, target, progress=progress, unverified=unverified, say=say)
    return target


def _ignore_message(_: str) -> None:
    pass


def _describe_expected(corpus: Dataset) -> str:
    return f"It is expected as {corpus.file_name} in {' or '.join(map(str, list_folders()))}."


def _download_and_convert(
    corpus: Dataset, target: Path, *, progress: bool, unverified: bool, say: MessageCallback
) -> Path:
    needed = [archive for archive in corpus.archives if not archive.optional]
    if not all(archive.urls for archive in needed):
        raise InputError(f"{corpus.name} cannot be downloaded. {corpus.note}")
    store = target.parent / ARCHIVES_FOLDER
    make_folder(store, needed[0].name)
    files = {archive.name: download(archive, store, progress=progress, tell=say) for archive in needed}
    new = [files[a.name] for a in needed if a.sha256 is None and read_checksum(files[a.name]) is None]
    try:
        _convert(corpus, files, target, progress=progress, unverified=unverified, say=say)
    except InputError:
        for path in new:  # they may be wrong: next time, they are downloaded again
            path.unlink(missing_ok=True)
        raise
    for path in new:
        say(f"the checksum of {path.name} was not known; it is recorded as {write_checksum(path)}")
    return target


def _match_archives(corpus: Dataset, sources: Sequence[str | Path]) -> dict[str, Path]:
    """Match files to archives: a single one may have any name, several go by their names."""
    paths = [
        path
        for source in map(Path, sources)
        for path in (_find_in_folder(corpus, source) if source.is_dir() else [source])
    ]
    for path in paths:
        if not path.is_file():
            raise InputError(f"{path}: there is no such file.")
    needed = [archive for archive in corpus.archives if not archive.optional]
    if len(paths) == 1 == len(needed):
        return {needed[0].name: paths[0]}
    files = {
        archive.name: path for archive in corpus.archives for path in paths if _stem(path.name) == _stem(archive.name)
    }
    missing = [archive.name for archive in needed if archive.name not in files]
    if missing:
        raise InputError(
            f"{corpus.name} is made from {_format_archives(corpus.archives)}; not given: {', '.join(missing)}. "
            "Give a folder that holds them, or --from several times."
        )
    return files


def _find_in_folder(corpus: Dataset, folder: Path) -> list[Path]:
    stems = [_stem(archive.name) for archive in corpus.archives]
    files = sorted(path for path in folder.iterdir() if path.is_file() and _stem(path.name) in stems)
    if not files:
        raise InputError(f"{folder}: there is none of {_format_archives(corpus.archives)} in this folder.")
    return files


def _stem(name: str) -> str:
    return name.lower().removesuffix(".gz")


def _format_archives(archives: Iterable[Archive]) -> str:
    return ", ".join(f"{archive.name} (if there is one)" if archive.optional else archive.name for archive in archives)


def _check_checksums(corpus: Dataset, files: Mapping[str, Path]) -> None:
    for archive in corpus.archives:
        path = files.get(archive.name)
        if path is not None and archive.sha256 and (digest := compute_sha256(path)) != archive.sha256:
            raise InputError(
                f"{path}: has the checksum {digest}, but {archive.name} has {archive.sha256}. It is another edition, "
                "was packed again, or is damaged. To accept it: --unverified."
            )


def _convert(
    corpus: Dataset, files: Mapping[str, Path], target: Path, *, progress: bool, unverified: bool, say: MessageCallback
) -> None:
    assert corpus.converter  # noqa: S101 - get() has looked
    ordered = {archive.name: files[archive.name] for archive in corpus.archives if archive.name in files}
    summary = ConversionSummary()
    documents = track(corpus.converter(ordered), "converting", corpus.documents, shown=progress)
    lines = _encode_and_check(summary, documents, corpus, ordered, unverified=unverified)
    write_atomically(target, compress_lines(lines))
    say(f"{corpus.name}: {summary.documents:,} documents in {len(summary.classes)} classes, written to {target}")
    if len(summary.classes) != corpus.classes:
        say(f"note: {corpus.classes} classes were expected, but it has {', '.join(sorted(summary.classes))}")
    if corpus.fingerprint:
        same = summary.fingerprint == corpus.fingerprint
        say(
            "the documents are identical to those of our results"
            if same
            else "note: the documents differ slightly from those of our results"
        )


def _encode_and_check(
    summary: ConversionSummary,
    documents: Iterable[Document],
    corpus: Dataset,
    files: Mapping[str, Path],
    *,
    unverified: bool,
) -> Iterator[bytes]:
    """Yield the lines; too few or too many are an error at their end, before the file gets its name."""
    yield from summary.encode_documents(documents)
    places = ", ".join(str(path) for path in files.values())
    if not summary.documents:
        raise InputError(f"{places}: has no document of {corpus.title}. Is it {_format_archives(corpus.archives)}?")
    expected = [("documents", corpus.documents, summary.documents)]
    expected += [(f"documents of {part or 'no part'}", n, summary.splits[part]) for part, n in corpus.splits.items()]
    wrong = [f"{actual:,} {what} instead of {n:,}" for what, n, actual in expected if n is not None and actual != n]
    if wrong and not unverified:
        raise InputError(
            f"{places}: has {', '.join(wrong)}. It is not whole, or another edition. To accept it: --unverified."
        )
