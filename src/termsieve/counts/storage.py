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
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from termsieve._types import AnyArray, Int64Array
from termsieve.counts.cells import Cells, TermBlock
from termsieve.counts.consistency import LARGEST, check_block, check_distinct_terms, check_facts
from termsieve.errors import CountsFileError
from termsieve.files import write_atomically
from termsieve.tokens.strings import make_string_array, string_buffers

FORMAT_VERSION = 2
MAGIC = b"TSCOUNTS"
TRAILER = struct.Struct("<8sQ32s")  # magic, size of the index, checksum
BLOCK_TERMS, BLOCK_CELLS = 1 << 16, 1 << 18
COUNT_KINDS = ("df", "tf", "tf2")
METADATA_FIELDS = ("classes", "class_sizes", "n_docs", "n_multilabel", "settings", "fixed", "pruned")

# So much larger may a block become in memory
_UNPACKED_RATIO = 300  # measured: 36 at most, of counts that are all 1
_UNPACKED_BYTES = 64 << 20
_END_OF_STREAM = b"\xff\xff\xff\xff\0\0\0\0"
_UNREADABLE = (pa.ArrowException, OSError, KeyError, ValueError, TypeError, OverflowError, RecursionError, EOFError,
               struct.error)  # fmt: skip


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
    entries, sums = list[BlockEntry](), _Adder(len(facts["classes"]))
    for block in _cut_evenly(itertools.chain([first], blocks), 4 if small else 1):
        start = max(sink.position, len(head))
        writer.write_batch(make_batch(block))
        content = sink.take() if entries else sink.take()[len(head) :]  # Arrow writes the head with the first block
        digest = hashlib.sha256(content).hexdigest()
        n_terms, n_cells = len(block.terms), len(block.cells.classes)
        entries.append(BlockEntry(start, len(content), n_terms, n_cells, block.terms[0].as_py(), digest))
        sums.add(block)
        yield content
    index = _write_index(entries, sums.found(), files)
    checksum = hashlib.sha256(head + index).digest()
    yield b"".join([_END_OF_STREAM, index, TRAILER.pack(MAGIC, len(index), checksum)])


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
    return sink.take().removesuffix(_END_OF_STREAM)


def _open_writer(sink: _Sink, schema: pa.Schema) -> pa.RecordBatchStreamWriter:
    return pa.ipc.new_stream(pa.PythonFile(sink, "w"), schema, options=pa.ipc.IpcWriteOptions(compression="zstd"))


def _write_index(entries: list[BlockEntry], sums: Sums, files: Sequence[Any] | None) -> bytes:
    index: dict[str, Any] = {"blocks": [entry._asdict() for entry in entries], **sums._asdict()}
    index["class_tf"] = sums.class_tf.tolist()
    if files is not None:
        index["files"] = list(files)
    return json.dumps(index, sort_keys=True, ensure_ascii=True).encode()


class _Adder:
    """Adds up what blocks have, in their order."""

    def __init__(self, n_classes: int) -> None:
        self._n_terms = self._n_cells = 0
        self._n_occurrences: float = 0
        self._class_tf: AnyArray = np.zeros(n_classes, np.int64)

    def add(self, block: TermBlock) -> None:
        self._n_terms += len(block.terms)
        self._n_cells += len(block.cells.classes)
        self._n_occurrences += block.totals[1].sum().item()
        self._class_tf = self._class_tf.astype(block.cells.values.dtype, copy=False)
        np.add.at(self._class_tf, block.cells.classes, block.cells.values[1])

    def found(self) -> Sums:
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
            end = _find_end(whole.cells.indptr, first, most_terms, most_cells)
            if end == len(whole.terms):  # the next terms may still belong to it
                break
            yield whole.slice(first, end)
            first = end
        held = [whole.slice(first, len(whole.terms))]
        n_terms, n_cells = len(held[0].terms), len(held[0].cells.classes)
    if held:
        yield join_blocks(held)


def _find_end(indptr: Int64Array, first: int, most_terms: int, most_cells: int) -> int:
    """Return where the block that begins with a term ends; a term with very many classes is a block of its own."""
    end = int(np.searchsorted(indptr, indptr[first] + most_cells, side="right")) - 1
    return min(max(end, first + 1), first + most_terms, len(indptr) - 1)


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
    return pa.array(row.astype(np.int64, copy=False) if kind == "df" else row)


EMPTY_BLOCK = TermBlock(
    pa.array([], pa.large_string()),
    Cells(np.zeros(1, np.int64), np.empty(0, np.int32), np.empty((3, 0), np.int64)),
    np.empty((3, 0), np.int64),
)


# Reading


class StoredCounts:
    """Counts in a file or in bytes: what stands in its head and index, and its blocks, read when they are asked for.

    A file is read, not mapped: the blocks are compressed, and when another process cuts a mapped file, the next access
    to it ends this one.

    Attributes
    ----------
    facts
        classes, class_sizes, n_docs, n_multilabel, settings, fixed, pruned.
    blocks
        An entry for each block.
    sums
        What all blocks have together, as the index says.
    files
        The list of what was counted, or None.
    """

    def __init__(self, source: pa.NativeFile, path: Path, *, own: bool = False) -> None:
        self.path, self._source, self._own = path, source, own
        with _name_file(self.path):
            self._open()

    @classmethod
    def of_file(cls, path: str | Path, *, own: bool = False) -> StoredCounts:
        """Open a file; of one of our `own`, which this process has written, only the checksums are checked."""
        try:
            return cls(pa.OSFile(str(path)), Path(path), own=own)
        except OSError as error:
            raise CountsFileError(f"{path}: cannot be read: {error}.") from error

    @classmethod
    def of_bytes(cls, content: bytes, path: Path) -> StoredCounts:
        """Open the bytes of a file; the path is for what an error says."""
        return cls(pa.BufferReader(content), path)

    def close(self) -> None:
        """Close the file."""
        self._source.close()

    @property
    def digest(self) -> str:
        """The SHA-256 of what tells these counts from others: head and checksums of the blocks."""
        sums = hashlib.sha256(self._head)
        for entry in self.blocks:
            sums.update(bytes.fromhex(entry.sha256))
        return sums.hexdigest()

    def _open(self) -> None:
        size = self._source.size()
        trailer = self._read(max(size - TRAILER.size, 0), min(size, TRAILER.size))
        if len(trailer) < TRAILER.size or not trailer.startswith(MAGIC):
            raise CountsFileError(
                f"{self.path}: is not a counts file of termsieve, or only the beginning of one: it does not end as one "
                "does. Counts files are written by `counts.save(path)` or `termsieve count`."
            )
        _, index_size, checksum = TRAILER.unpack(trailer)
        index_start = size - TRAILER.size - index_size
        index = self._read(index_start, index_size) if index_start > 0 else b""
        try:
            about = json.loads(index)
            entries = [BlockEntry(**entry) for entry in about["blocks"]]
            head_size = entries[0].start if entries else index_start - len(_END_OF_STREAM)
            self._head = self._read(0, head_size) if 0 < head_size < index_start else b""
        except _UNREADABLE:
            raise self._altered() from None
        if hashlib.sha256(self._head + index).digest() != checksum:
            raise self._altered()
        self.schema = pa.ipc.read_schema(pa.py_buffer(self._head))
        self.facts = self._read_facts()
        self._check_schema()
        self.blocks, self.files = entries, about.get("files")
        self._check_blocks(head_size, index_start)
        self.sums = self._read_sums(about)

    def _read(self, start: int, size: int) -> bytes:
        content: bytes = self._source.read_at(size, start)
        if len(content) != size:
            raise CountsFileError(f"{self.path}: was cut while it was read.")
        return content

    def _altered(self) -> CountsFileError:
        return CountsFileError(f"{self.path}: was altered or damaged after it was written: its checksum does not fit.")

    def _read_facts(self) -> dict[str, Any]:
        about = json.loads((self.schema.metadata or {})[b"termsieve"])
        if not isinstance(about, dict):
            raise CountsFileError(f"{self.path}: is not a counts file of termsieve: its metadata is {about!r:.60}.")
        if about["format"] != FORMAT_VERSION:
            raise CountsFileError(
                f"{self.path}: has version {about['format']!r:.60} of the format; this termsieve reads version "
                f"{FORMAT_VERSION}. A newer termsieve may read it."
            )
        facts = {name: about[name] for name in METADATA_FIELDS}
        facts["class_sizes"] = _whole_numbers("class_sizes", about["class_sizes"])
        check_facts(facts)
        return facts

    def _check_schema(self) -> None:
        number = self.schema.field("tf").type
        types = {"df": pa.int64(), "tf": number, "tf2": number}
        expected = {"term": pa.large_string()} | types | {"class": pa.large_list(pa.int32())}
        expected |= {f"class_{kind}": pa.large_list(type_) for kind, type_ in types.items()}
        found = dict(zip(self.schema.names, self.schema.types, strict=True))
        if found != expected or number not in (pa.int64(), pa.float64()):
            raise CountsFileError(f"{self.path}: is not a counts file of termsieve: its columns are {found}.")

    def _check_blocks(self, head_size: int, index_start: int) -> None:
        """Check that the blocks follow each other, from the head to the end of the stream."""
        end = head_size
        for entry in self.blocks:
            numbers = (entry.start, entry.size, entry.terms, entry.cells)
            if not all(type(number) is int and number >= 0 for number in numbers) or not entry.terms:
                raise ValueError(f"its index has a block of {numbers!r:.60}")
            if not isinstance(entry.first, str) or not isinstance(entry.sha256, str) or entry.start != end:
                raise ValueError("its index has a block that does not follow the one before")
            bytes.fromhex(entry.sha256)
            end += entry.size
        if end > index_start or self._read(end, index_start - end) != _END_OF_STREAM:
            raise ValueError("its blocks do not end where the index begins")
        if not self.facts["fixed"] and any(
            a.first >= b.first for a, b in zip(self.blocks, self.blocks[1:], strict=False)
        ):
            raise ValueError("its blocks are not in the order of their terms")

    def _read_sums(self, about: Mapping[str, Any]) -> Sums:
        real = self.is_real
        total, by_class = about["n_occurrences"], about["class_tf"]
        numbers: list[Any] = [*by_class, total] if isinstance(by_class, list) else [None]
        if not all(type(one) is int or (real and type(one) is float) for one in numbers):
            raise ValueError("its index has sums that are no numbers")
        if len(by_class) != len(self.facts["classes"]) or not (real or all(0 <= one <= LARGEST for one in numbers)):
            raise ValueError("its index has sums that no counts have")
        n_terms, n_cells = sum(entry.terms for entry in self.blocks), sum(entry.cells for entry in self.blocks)
        if (about["n_terms"], about["n_cells"]) != (n_terms, n_cells):
            raise ValueError("its index has other numbers of terms than its blocks")
        return Sums(n_terms, n_cells, total, np.array(by_class, np.float64 if real else np.int64))

    @property
    def is_real(self) -> bool:
        """Whether occurrences are real numbers."""
        return bool(self.schema.field("tf").type == pa.float64())

    def read_block(self, number: int) -> TermBlock:
        """Return a block, checked in full."""
        entry = self.blocks[number]
        with _name_file(self.path):
            content = self._read(entry.start, entry.size)
            if hashlib.sha256(content).hexdigest() != entry.sha256:
                raise self._altered()
            message = pa.ipc.read_message(pa.py_buffer(content))
            _check_unpacked_size(message, entry.size)
            batch = pa.ipc.read_record_batch(message, self.schema)
            if self._own:
                return read_batch(batch)
            batch.validate(full=True)
            block = read_batch(batch)
            if (len(block.terms), len(block.cells.classes)) != (entry.terms, entry.cells):
                raise ValueError("a block has not the terms that its index says")
            check_block(self.facts, block)
            self._check_neighbours(number, block)
        return block

    def _check_neighbours(self, number: int, block: TermBlock) -> None:
        if block.terms[0].as_py() != self.blocks[number].first:
            raise ValueError("a block begins with another term than its index says")
        is_last = number + 1 == len(self.blocks) or self.facts["fixed"]
        if not is_last and block.terms[-1].as_py() >= self.blocks[number + 1].first:
            raise ValueError("terms must be sorted, each once, from block to block")

    def read_blocks(self) -> Iterator[TermBlock]:
        """Yield all blocks; behind the last, the sums of the index are checked."""
        adder = _Adder(len(self.facts["classes"]))
        for number in range(len(self.blocks)):
            block = self.read_block(number)
            adder.add(block)
            yield block
        found = adder.found()
        with _name_file(self.path):
            if found.n_occurrences != self.sums.n_occurrences or (found.class_tf != self.sums.class_tf).any():
                raise ValueError("its index has other sums than its blocks")

    def read_all(self) -> TermBlock:
        """Return all terms as one block."""
        dtype = np.float64 if self.is_real else np.int64
        n_terms, n_cells = self.sums.n_terms, self.sums.n_cells
        cells = Cells(np.zeros(n_terms + 1, np.int64), np.empty(n_cells, np.int32), np.empty((3, n_cells), dtype))
        totals, terms, term, cell = np.empty((3, n_terms), dtype), [EMPTY_BLOCK.terms], 0, 0
        for block in self.read_blocks():
            next_term, next_cell = term + len(block.terms), cell + len(block.cells.classes)
            cells.indptr[term + 1 : next_term + 1] = block.cells.indptr[1:] + cell
            cells.classes[cell:next_cell], cells.values[:, cell:next_cell] = block.cells.classes, block.cells.values
            totals[:, term:next_term] = block.totals
            terms.append(block.terms)
            term, cell = next_term, next_cell
        joined = pa.concat_arrays(terms)
        with _name_file(self.path):
            if self.facts["fixed"]:
                check_distinct_terms(joined)
        return TermBlock(joined, cells, totals)


@contextmanager
def _name_file(path: Path) -> Iterator[None]:
    """Turn what libraries say of a damaged file into an error that names it."""
    try:
        yield
    except CountsFileError:
        raise
    except _UNREADABLE as error:
        said = str(error).rstrip(".")
        raise CountsFileError(f"{path}: is not a counts file of termsieve, or a damaged one: {said}.") from error


def read_batch(batch: pa.RecordBatch) -> TermBlock:
    """Return the block of terms that rows of the format are."""
    column = {name: _check_complete(name, batch[name]) for name in batch.schema.names}
    lists = [column[name] for name in ("class", *(f"class_{kind}" for kind in COUNT_KINDS))]
    if any(not one.offsets.equals(lists[0].offsets) for one in lists[1:]):
        raise ValueError("its lists of counts in classes have different lengths")
    indptr = lists[0].offsets.to_numpy()
    values = np.stack([one.values.to_numpy() for one in lists[1:]])
    cells = Cells(indptr, lists[0].values.to_numpy(), values)
    return TermBlock(column["term"], cells, np.stack([column[kind].to_numpy() for kind in COUNT_KINDS]))


def _check_complete(name: str, array: pa.Array) -> pa.Array:
    values = array.values if pa.types.is_large_list(array.type) else array
    if array.null_count or values.null_count:
        raise ValueError(f"a value of the column {name!r} is missing")
    return array


def _whole_numbers(name: str, values: Any) -> np.ndarray[Any, np.dtype[np.int64]]:
    if not isinstance(values, list) or not all(type(value) is int for value in values):
        raise ValueError(f"{name} must be whole numbers, not {values!r:.60}")
    return np.array(values, np.int64)


def _check_unpacked_size(message: pa.ipc.Message, stored: int) -> None:
    """Refuse a block that is small in the file and would fill the memory."""
    if message.type != "record batch":
        raise ValueError(f"it has a message of the type {message.type!r}")
    size, most = 0, max(_UNPACKED_BYTES, _UNPACKED_RATIO * stored)
    if message.body is not None:
        # a compressed buffer begins with its size when unpacked, or with -1 if it is not compressed after all
        for start, length in _compressed_buffers(message.metadata.to_pybytes()):
            size += max(struct.unpack_from("<q", message.body, start)[0], 0) if length else 0
    if size > most:
        raise ValueError(f"{stored:,} bytes of it would become {size:,}, more than {most:,}")


def _compressed_buffers(metadata: bytes) -> list[tuple[int, int]]:
    """Where the compressed buffers of a record batch stand in its body: offset and length of each.

    pyarrow does not tell. The metadata is a flatbuffer, which pyarrow has verified (Message.fbs of Arrow): field 2 of
    a Message is its header; fields 2 and 3 of that, a RecordBatch, are the vector of buffers and the compression.
    """
    batch = _field(metadata, struct.unpack_from("<I", metadata)[0], 2)
    buffers, compression = _field(metadata, batch, 2), _field(metadata, batch, 3)
    if not buffers or not compression:
        return []
    n = struct.unpack_from("<I", metadata, buffers)[0]
    return [struct.unpack_from("<qq", metadata, buffers + 4 + 16 * index) for index in range(n)]


def _field(metadata: bytes, table: int, number: int) -> int:
    """Where a table of a flatbuffer, or a vector, stands that is a field of another table; 0 for a missing one."""
    vtable = table - struct.unpack_from("<i", metadata, table)[0]
    slot = 4 + 2 * number
    if slot >= struct.unpack_from("<H", metadata, vtable)[0]:
        return 0
    offset = struct.unpack_from("<H", metadata, vtable + slot)[0]
    field = table + offset
    return int(field + struct.unpack_from("<I", metadata, field)[0]) if offset else 0
