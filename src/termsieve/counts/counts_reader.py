"""Counts that were written by `termsieve.counts.storage`, read and checked, block by block.

That module says what is checked when. Nothing is computed from bytes that were not checked.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from termsieve.counts.cells import Cells, TermBlock, fits_narrow
from termsieve.counts.consistency import LARGEST, check_block, check_distinct_terms, check_facts
from termsieve.counts.storage import (
    COUNT_KINDS,
    EMPTY_BLOCK,
    END_OF_STREAM,
    FORMAT_VERSION,
    MAGIC,
    METADATA_FIELDS,
    TRAILER,
    BlockEntry,
    Sums,
    SumsAdder,
)
from termsieve.errors import CountsFileError

# How much larger a block may become in memory
_UNPACKED_RATIO = 300  # measured: 36 at most, of counts that are all 1
_UNPACKED_BYTES = 64 << 20
_UNREADABLE = (pa.ArrowException, OSError, KeyError, ValueError, TypeError, OverflowError, RecursionError, EOFError,
               struct.error)  # fmt: skip


class CountsReader:
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
    def of_file(cls, path: str | Path, *, own: bool = False) -> CountsReader:
        """Open a file; of one of our `own`, which this process has written, only the checksums are checked."""
        try:
            return cls(pa.OSFile(str(path)), Path(path), own=own)
        except (OSError, pa.ArrowInvalid) as error:  # the second, of a name with a zero byte
            raise CountsFileError(f"{path}: cannot be read: {error}.") from error

    @classmethod
    def of_bytes(cls, content: bytes, path: Path) -> CountsReader:
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
            head_size = entries[0].start if entries else index_start - len(END_OF_STREAM)
            self._head = self._read(0, head_size) if 0 < head_size < index_start else b""
        except _UNREADABLE:
            raise self._make_altered_error() from None
        if hashlib.sha256(self._head + index).digest() != checksum:
            raise self._make_altered_error()
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

    def _make_altered_error(self) -> CountsFileError:
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
        facts["class_sizes"] = _check_whole_numbers("class_sizes", about["class_sizes"])
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
        if end > index_start or self._read(end, index_start - end) != END_OF_STREAM:
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
            raise ValueError("its index has sums that are not numbers")
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
                raise self._make_altered_error()
            message = pa.ipc.read_message(pa.py_buffer(content))
            _check_unpacked_size(message, entry.size)
            batch = pa.ipc.read_record_batch(message, self.schema)
            if self._own:
                return read_batch(batch)
            batch.validate(full=True)
            block = read_batch(batch)
            if (len(block.terms), len(block.cells.classes)) != (entry.terms, entry.cells):
                raise ValueError("a block does not have the terms that its index says")
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
        adder = SumsAdder(len(self.facts["classes"]))
        for number in range(len(self.blocks)):
            block = self.read_block(number)
            adder.add(block)
            yield block
        found = adder.total()
        with _name_file(self.path):
            if found.n_occurrences != self.sums.n_occurrences or (found.class_tf != self.sums.class_tf).any():
                raise ValueError("its index has other sums than its blocks")

    def read_all(self) -> TermBlock:
        """Return all terms as one block."""
        dtype = np.float64 if self.is_real else np.int64
        n_terms, n_cells = self.sums.n_terms, self.sums.n_cells
        narrow = np.float64 if self.is_real else np.int32
        cells = Cells(np.zeros(n_terms + 1, np.int64), np.empty(n_cells, np.int32), np.empty((3, n_cells), narrow))
        totals, terms, term, cell = np.empty((3, n_terms), dtype), [EMPTY_BLOCK.terms], 0, 0
        for block in self.read_blocks():
            if cells.values.dtype == np.int32 and not fits_narrow(block.cells.values):
                cells = cells._replace(values=cells.values.astype(np.int64))
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


def _check_whole_numbers(name: str, values: Any) -> np.ndarray[Any, np.dtype[np.int64]]:
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
    """Find the compressed buffers of a record batch in its body: offset and length of each.

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
    """Find the offset of a field of a flatbuffer table that is a table or a vector itself; 0 for a missing one."""
    vtable = table - struct.unpack_from("<i", metadata, table)[0]
    slot = 4 + 2 * number
    if slot >= struct.unpack_from("<H", metadata, vtable)[0]:
        return 0
    offset = struct.unpack_from("<H", metadata, vtable + slot)[0]
    field = table + offset
    return int(field + struct.unpack_from("<I", metadata, field)[0]) if offset else 0
