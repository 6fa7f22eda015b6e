"""Counts files made without termsieve: any Arrow stream, with an index and checksums that fit to it."""

import hashlib
import json
import struct

import pyarrow as pa

TRAILER = 48


def stream_of(data):
    """The Arrow stream in a counts file."""
    size = struct.unpack_from("<Q", data, len(data) - TRAILER + 8)[0]
    return data[: len(data) - TRAILER - size]


def index_of(data):
    size = struct.unpack_from("<Q", data, len(data) - TRAILER + 8)[0]
    return json.loads(data[len(data) - TRAILER - size : len(data) - TRAILER])


def table_of(data):
    return pa.ipc.open_stream(stream_of(data)).read_all()


def arrow_stream(table, **options):
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def with_trailer(head, rest, index):
    checksum = hashlib.sha256(head + index).digest()
    return head + rest + index + b"TSCOUNTS" + struct.pack("<Q", len(index)) + checksum


def sealed(stream):
    """Return a file of an Arrow stream, or of anything, that says of itself that it is whole."""
    stream = bytes(stream)
    try:
        sizes = [message.serialize(alignment=8).size for message in pa.ipc.MessageReader.open_stream(stream)]
        batches = list(pa.ipc.open_stream(stream))
        index = _make_index(stream, sizes, batches)
    except (pa.ArrowException, OSError, KeyError, ValueError, TypeError, RecursionError):
        index, sizes = {"blocks": [], "n_terms": 0, "n_cells": 0, "n_occurrences": 0, "class_tf": []}, [len(stream) - 8]
    return with_trailer(stream[: sizes[0]], stream[sizes[0] :], json.dumps(index).encode())


def _make_index(stream, sizes, batches):
    blocks, start = [], sizes[0]
    for batch, size in zip(batches, sizes[1:], strict=True):
        entry = {"start": start, "size": size, "terms": batch.num_rows, "cells": _count(batch["class"])}
        entry |= {"first": batch["term"][0].as_py(), "sha256": hashlib.sha256(stream[start : start + size]).hexdigest()}
        blocks.append(entry)
        start += size
    table = pa.Table.from_batches(batches)
    about = json.loads((table.schema.metadata or {}).get(b"termsieve", b"{}"))
    by_class = [0] * len(about["classes"])
    for numbers, values in zip(table["class"].to_pylist(), table["class_tf"].to_pylist(), strict=True):
        for number, value in zip(numbers or (), values or (), strict=False):
            if number is not None and 0 <= number < len(by_class):
                by_class[number] += value
    sums = {"n_occurrences": sum(one or 0 for one in table["tf"].to_pylist()), "class_tf": by_class}
    n_cells = sum(one["cells"] for one in blocks)
    return {"blocks": blocks, "n_terms": table.num_rows, "n_cells": n_cells, **sums}


def _count(lists):
    return sum(len(one or ()) for one in lists.to_pylist())


def resealed(data):
    """Return a damaged file with checksums that fit, as far as its index can be read."""
    try:
        index, stream = index_of(data), stream_of(data)
        head = stream[: index["blocks"][0]["start"]]
        for entry in index["blocks"]:
            entry["sha256"] = hashlib.sha256(stream[entry["start"] : entry["start"] + entry["size"]]).hexdigest()
        return with_trailer(head, stream[len(head) :], json.dumps(index).encode())
    except (ValueError, KeyError, TypeError, IndexError, struct.error, OverflowError, RecursionError, AttributeError):
        return data
