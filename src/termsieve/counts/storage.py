"""The file format of counts: one Arrow IPC stream of blocks of terms, an index of the blocks, a trailer.

The stream can be read in any language that has Arrow. Its record batches are blocks of terms, a row per term::

    term: large_string                      the term
    df, tf, tf2: int64 (tf, tf2: double)    totals over all documents
    class: large_list<int32>                numbers of the classes in which it occurs, ascending
    class_df, class_tf, class_tf2: lists    the same counts in each of these classes

Its schema's metadata has one entry, ``termsieve``, with JSON: ``format`` (2), ``classes``, ``class_sizes``, ``n_docs``,
``n_multilabel``, ``settings`` of the analyzer, ``fixed``, ``pruned``. The buffers are compressed with zstd. A block has
up to 65,536 terms and 262,144 counts in classes, and as many as it can have: equal counts give equal bytes, with one
version of Arrow, however they came about.

The index is JSON: ``blocks``, with ``start`` and ``size`` in bytes, ``terms``, ``cells``, the ``first`` term and the
``sha256`` of each; ``n_terms``, ``n_cells``, ``n_occurrences``, ``class_tf`` (occurrences of all terms in each class);
and ``files``, where a list of what was counted is kept (`termsieve.counts.manifest`).

The last 48 bytes are ``TSCOUNTS``, the size of the index (8 bytes, the lowest first), and the SHA-256 of the schema's
message and the index. **What is checked when:** on opening, that checksum, and that the blocks fill the file without a
gap; so a file that was cut or lengthened is refused at once. A block is checked when it is read, before anything is
computed from it: its checksum, Arrow's own rules, and that documents can have such counts. That the sums of the index
are those of the blocks is checked when the last block was read. `Counts.load` reads all blocks, so it checks all.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from termsieve._types import AnyArray
from termsieve.counts.cells import Cells, TermBlock
from termsieve.files import write_atomically
from termsieve.tokens.strings import make_string_array, string_buffers

FORMAT_VERSION = 2
MAGIC = b"TSCOUNTS"
TRAILER = struct.Struct("<8sQ32s")  # magic, size of the index, checksum
BLOCK_TERMS, BLOCK_CELLS = 1 << 16, 1 << 18
COUNT_KINDS = ("df", "tf", "tf2")
METADATA_FIELDS = ("classes", "class_sizes", "n_docs", "n_multilabel", "settings", "fixed", "pruned")
END_OF_STREAM = b"\xff\xff\xff\xff\0\0\0\0"


class Sums(NamedTuple):
    """What all blocks have together."""

    n_terms: int
    n_cells: int
    n_occurrences: float
    class_tf: AnyArray


class BlockEntry(NamedTuple):
    """Where a block stands in the file, what it has, and its checksum."""

    start: int
    size: int
    terms: int
    cells: int
    first: str
    sha256: str


def is_counts_file(path: str | Path) -> bool:
    """Tell whether a file has counts: by its ending, or its last bytes."""
    file = Path(path)
    if file.suffix == ".counts":
        return True
    if not file.is_file() or file.stat().st_size <= TRAILER.size:
        return False
    try:
        with file.open("rb") as content:
            content.seek(-TRAILER.size, 2)
            return content.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


# Writing


def save(
    path: str | Path, facts: Mapping[str, Any], blocks: Iterable[TermBlock], files: Sequence[Any] | None = None
) -> None:
    """Write counts to a file, block by block; it is there whole or not at all."""
    write_atomically(path, write_counts(facts, blocks, files))


def pack(facts: Mapping[str, Any], blocks: Iterable[TermBlock]) -> bytes:
    """Return counts as the bytes of a file."""
    return b"".join(write_counts(facts, blocks))


def write_counts(
    facts: Mapping[str, Any], blocks: Iterable[TermBlock], files: Sequence[Any] | None = None, *, small: bool = False
) -> Iterator[bytes]:
    """Yield the bytes of a file, from blocks of terms of any size; with `small` blocks, many can be read together."""
    blocks = iter(blocks)
    first = next(blocks, EMPTY_BLOCK)  # which says what kind of numbers there are
    schema = _make_schema(facts, first)
    head, sink = _write_head(schema), _Sink()
    writer = _open_writer(sink, schema)
    yield head
    entries, sums = list[BlockEntry](), SumsAdder(len(facts["classes"]))
    for block in _cut_evenly(itertools.chain([first], blocks), 4 if small else 1):
        start = max(sink.position, len(head))
        writer.write_batch(make_batch(block))
        content = sink.take() if entries else sink.take()[len(head) :]  # Arrow writes the head with the first block
        digest = hashlib.sha256(content).hexdigest()
        n_terms, n_cells = len(block.terms), len(block.cells.classes)
        entries.append(BlockEntry(start, len(content), n_terms, n_cells, block.terms[0].as_py(), digest))
        sums.add(block)
        yield content
    index = _write_index(entries, sums.total(), files)
    checksum = hashlib.sha256(head + index).digest()
    yield b"".join([END_OF_STREAM, index, TRAILER.pack(MAGIC, len(index), checksum)])


class _Sink:
    """What Arrow writes to: bytes are taken away as they come, and the position goes on."""

    closed = False

    def __init__(self) -> None:
        self.position = 0
        self._parts: list[bytes] = []

    def write(self, data: Any) -> int:
        part = bytes(data)
        self._parts.append(part)
        self.position += len(part)
        return len(part)

    def take(self) -> bytes:
        """Return what was written since the last call."""
        content = b"".join(self._parts)
        self._parts = []
        return content

    def tell(self) -> int:
        return self.position

    def flush(self) -> None:
        """Have nothing to flush."""

    def close(self) -> None:
        """Have nothing to close."""


def _make_schema(facts: Mapping[str, Any], block: TermBlock) -> pa.Schema:
    about = {name: facts[name] for name in METADATA_FIELDS}
    about["class_sizes"] = facts["class_sizes"].tolist()
    said = json.dumps({"format": FORMAT_VERSION, **about}, sort_keys=True, ensure_ascii=True)
    return make_batch(block.slice(0, 0)).schema.with_metadata({"termsieve": said})


def _write_head(schema: pa.Schema) -> bytes:
    sink = _Sink()
    _open_writer(sink, schema).close()
    return sink.take().removesuffix(END_OF_STREAM)


def _open_writer(sink: _Sink, schema: pa.Schema) -> pa.RecordBatchStreamWriter:
    return pa.ipc.new_stream(pa.PythonFile(sink, "w"), schema, options=pa.ipc.IpcWriteOptions(compression="zstd"))


def _write_index(entries: list[BlockEntry], sums: Sums, files: Sequence[Any] | None) -> bytes:
    index: dict[str, Any] = {"blocks": [entry._asdict() for entry in entries], **sums._asdict()}
    index["class_tf"] = sums.class_tf.tolist()
    if files is not None:
        index["files"] = list(files)
    return json.dumps(index, sort_keys=True, ensure_ascii=True).encode()


class SumsAdder:
    """Adds up what blocks have, in their order."""

    def __init__(self, n_classes: int) -> None:
        self._n_terms = self._n_cells = 0
        self._n_occurrences: float = 0
        self._class_tf: AnyArray = np.zeros(n_classes, np.int64)

    def add(self, block: TermBlock) -> None:
        """Add what a block has."""
        self._n_terms += len(block.terms)
        self._n_cells += len(block.cells.classes)
        self._n_occurrences += block.totals[1].sum().item()
        self._class_tf = self._class_tf.astype(block.totals.dtype, copy=False)
        block.cells.add_occurrences_to(self._class_tf)

    def total(self) -> Sums:
        """Return the sums of all blocks so far."""
        return Sums(self._n_terms, self._n_cells, self._n_occurrences, self._class_tf)


def _cut_evenly(blocks: Iterable[TermBlock], parts: int) -> Iterator[TermBlock]:
    """Cut blocks of any size to those that a file has: as large as they may be, so that there is one way to cut."""
    most_terms, most_cells = BLOCK_TERMS // parts, BLOCK_CELLS // parts
    held: list[TermBlock] = []
    n_terms = n_cells = 0
    for block in blocks:
        if not len(block.terms):
            continue
        held.append(block)
        n_terms, n_cells = n_terms + len(block.terms), n_cells + len(block.cells.classes)
        if n_terms <= most_terms and n_cells <= most_cells:
            continue
        whole = join_blocks(held)
        first = 0
        while True:
            end = whole.cells.find_end(first, most_terms, most_cells)
            if end == len(whole.terms):  # the next terms may still belong to it
                break
            yield whole.slice(first, end)
            first = end
        held = [whole.slice(first, len(whole.terms))]
        n_terms, n_cells = len(held[0].terms), len(held[0].cells.classes)
    if held:
        yield join_blocks(held)


def join_blocks(blocks: Sequence[TermBlock]) -> TermBlock:
    """Return one block with the terms of several, in order."""
    if len(blocks) == 1:
        return blocks[0]
    cells = [block.cells for block in blocks]
    ends = np.cumsum([0, *(len(one.classes) for one in cells)])
    indptr = [one.indptr[:-1] - one.indptr[0] + end for one, end in zip(cells, ends[:-1], strict=True)]
    joined = Cells(
        np.concatenate([*indptr, ends[-1:]]),
        np.concatenate([one.classes for one in cells]),
        np.concatenate([one.values for one in cells], axis=1),
    )
    terms = pa.concat_arrays([block.terms for block in blocks])
    return TermBlock(terms, joined, np.concatenate([block.totals for block in blocks], axis=1))


def make_batch(block: TermBlock) -> pa.RecordBatch:
    """Return a block of terms as the rows of the format."""
    ends = pa.array(block.cells.indptr)
    columns = {"term": _own_bytes(block.terms)}
    columns |= {kind: _to_array(kind, row) for kind, row in zip(COUNT_KINDS, block.totals, strict=True)}
    columns["class"] = pa.LargeListArray.from_arrays(ends, pa.array(block.cells.classes))
    for kind, row in zip(COUNT_KINDS, block.cells.values, strict=True):
        columns[f"class_{kind}"] = pa.LargeListArray.from_arrays(ends, _to_array(kind, row))
    return pa.RecordBatch.from_pydict(columns)


def _own_bytes(terms: pa.LargeStringArray) -> pa.LargeStringArray:
    """Return strings that share their bytes with no others: Arrow writes some of those behind the last, too."""
    text, offsets = string_buffers(terms)
    return make_string_array(text[offsets[0] : offsets[-1]].copy(), offsets - offsets[0])


def _to_array(kind: str, row: AnyArray) -> pa.Array:
    is_whole = kind == "df" or row.dtype.kind == "i"
    return pa.array(row.astype(np.int64, copy=False) if is_whole else row)


EMPTY_BLOCK = TermBlock(
    pa.array([], pa.large_string()),
    Cells(np.zeros(1, np.int64), np.empty(0, np.int32), np.empty((3, 0), np.int64)),
    np.empty((3, 0), np.int64),
)
