"""The bytes of a model file: arrays and one JSON text in a skops archive, and a checksum over all of it.

The archive holds one dict of NumPy arrays, each as an ``.npy`` member, and nothing else: no type, function or module is
named in it. The array ``about`` is the UTF-8 of a JSON text. `skops.io.load` reads the file, too. The comment at the
end of the archive is ``TSMODEL2`` and the SHA-256 of all bytes before it. Equal content gives equal bytes.

A file may be from anybody, and the checksum is not a signature: sizes, members and the schema are checked before
anything is unpacked or passed to skops.
"""

from __future__ import annotations

import hashlib
import io
import json
import struct
import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np

from termsieve._types import AnyArray
from termsieve.defaults import MAX_MODEL_BYTES
from termsieve.errors import OutputError
from termsieve.extras import import_extra

Arrays = dict[str, AnyArray]

MARK = b"TSMODEL2"
TRAILER = len(MARK) + hashlib.sha256().digest_size
MAX_MEMBERS = 60_000
ABOUT = "about"
TYPES = ("<f8", "<i8", "<i4", "|u1")
_SCHEMA = "schema.json"
_END = struct.Struct("<4s4H2LH")  # of a zip archive, before its comment
_FIXED_TIME = (1980, 1, 1, 0, 0, 0)  # a time of writing would make each file different


class DamagedError(ValueError):
    """An error for bytes that are not those of a model file."""


def pack(about: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> bytes:
    """Return the bytes of a file with this content."""
    skops_io = import_extra("skops.io", "A model file")
    text = np.frombuffer(_encode_json(about), np.uint8)
    plain = {ABOUT: text, **{name: _to_little_endian(array) for name, array in arrays.items()}}
    content = _normalize_archive(skops_io.dumps(plain))
    return content + hashlib.sha256(content).digest()


def _encode_json(about: Mapping[str, Any]) -> bytes:
    return json.dumps(about, ensure_ascii=False, sort_keys=True, allow_nan=False, separators=(",", ":")).encode()


def _to_little_endian(array: AnyArray) -> AnyArray:
    """Return a copy in the byte order of the format: skops would write an array that is used twice only once."""
    return np.array(array, array.dtype.newbyteorder("<"))


def _normalize_archive(dumped: bytes) -> bytes:
    """Rewrite the archive reproducibly: skops names members by memory addresses, and notes the time."""
    with zipfile.ZipFile(io.BytesIO(dumped)) as source:
        schema = json.loads(source.read(_SCHEMA))
        numbers: dict[int, int] = {}
        files: dict[str, str] = {}
        _renumber(schema, numbers, files)
        members = {new: source.read(old) for old, new in files.items()}
    members[_SCHEMA] = json.dumps(schema, sort_keys=True, separators=(",", ":")).encode()
    target = io.BytesIO()
    try:
        with zipfile.ZipFile(target, "w", allowZip64=False) as archive:
            for name, content in members.items():
                member = zipfile.ZipInfo(name, _FIXED_TIME)
                member.create_system, member.compress_type = 3, zipfile.ZIP_DEFLATED
                archive.writestr(member, content)
            archive.comment = MARK + bytes(TRAILER - len(MARK))
    except zipfile.LargeZipFile as error:
        raise OutputError(f"The model is too large for its file format: {error}.") from error
    return target.getvalue()[: len(MARK) - TRAILER]


def _renumber(node: Any, numbers: dict[int, int], files: dict[str, str]) -> None:
    """Assign numbers to the objects in order of appearance, and name their files by these numbers."""
    if isinstance(node, list):
        for one in node:
            _renumber(one, numbers, files)
    elif isinstance(node, dict):
        if "__id__" in node:
            node["__id__"] = numbers.setdefault(node["__id__"], len(numbers) + 1)
        if "file" in node:
            node["file"] = files.setdefault(node["file"], f"{node['__id__']}.npy")
        for name in sorted(node):
            _renumber(node[name], numbers, files)


# Reading


def unpack(content: bytes, max_bytes: int = MAX_MODEL_BYTES) -> tuple[dict[str, Any], Arrays]:
    """Return the content of a file, after checking everything that could do harm."""
    skops_io = import_extra("skops.io", "A model file")
    _check_whole(content)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        _check_members(archive, max_bytes)
        _check_schema(archive)
        for member in archive.infolist():
            if member.filename != _SCHEMA:
                _check_array(member.filename, archive.read(member))
    arrays = skops_io.loads(content, trusted=[])
    about = arrays.pop(ABOUT, None)
    if about is None or about.dtype != np.uint8:
        raise DamagedError("it does not say what it is")
    return _read_about(about.tobytes()), arrays


def _check_whole(content: bytes) -> None:
    if content[-TRAILER : len(MARK) - TRAILER] != MARK or len(content) < _END.size + TRAILER:
        raise DamagedError(
            "it does not end like a model file. Models are written by `termsieve train` or `Model.save`; those of "
            "earlier versions must be trained again"
        )
    size = len(content) - TRAILER + len(MARK)
    if hashlib.sha256(memoryview(content)[:size]).digest() != content[size:]:
        raise DamagedError("it was altered or damaged after it was written: its checksum is wrong")
    end = len(content) - TRAILER - _END.size
    mark, disk, first_disk, here, members, directory, start, comment = _END.unpack_from(content, end)
    if (mark, disk, first_disk, comment) != (b"PK\5\6", 0, 0, TRAILER) or start + directory != end:
        raise DamagedError("it is not one whole archive")
    if here != members or members > MAX_MEMBERS:
        raise DamagedError(f"it has {members:,} members; at most {MAX_MEMBERS:,} are read")


def _check_members(archive: zipfile.ZipFile, max_bytes: int) -> None:
    members = archive.infolist()
    names = {member.filename for member in members}
    if len(names) < len(members) or _SCHEMA not in names:
        raise DamagedError("its archive has a member twice, or no schema")
    if any(member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) for member in members):
        raise DamagedError("its archive is packed in a way that models are not")
    size = sum(member.file_size for member in members)  # what is unpacked: zipfile stops there
    if size > max_bytes:
        raise DamagedError(
            f"it would unpack to {size:,} bytes; at most {max_bytes:,} are read. If you trust the file, allow more: "
            f"--max-model-size {-(-size // 1_000_000)} (in MB), or Model.load(path, max_bytes={size})"
        )


def _check_schema(archive: zipfile.ZipFile) -> None:
    """Refuse a schema of anything but one dict of arrays: skops would create any type that it trusts."""
    schema = json.loads(archive.read(_SCHEMA))
    names = schema["content"].keys()
    keys = schema["key_types"]
    _check_node(schema, "dict", "builtins", "DictNode", {"content", "key_types", "protocol", "_skops_version"})
    _check_node(keys, "list", "builtins", "ListNode", {"content"})
    if len(keys["content"]) != len(names):
        raise DamagedError("its schema names other arrays than it has")
    for key in keys["content"]:
        _check_node(key, "str", "builtins", "TypeNode", set())
    arrays = list(schema["content"].values())
    for array in arrays:
        _check_node(array, "ndarray", "numpy", "NdArrayNode", {"type", "file"})
        if array["type"] != "numpy" or not isinstance(array["file"], str):
            raise DamagedError("its schema has an array that is not a file")
    files, members = {array["file"] for array in arrays}, {member.filename for member in archive.infolist()}
    if len(files) < len(arrays) or files != members - {_SCHEMA}:
        raise DamagedError("its schema names other files than it has")
    ids = [schema["__id__"], keys["__id__"], *(array["__id__"] for array in arrays)]
    key_ids = {key["__id__"] for key in keys["content"]}  # one: all names are of the same type
    if len(key_ids) > 1 or len({*ids, *key_ids}) < len(ids) + len(key_ids):
        raise DamagedError("its schema has an object twice")


def _check_node(node: Any, name: str, module: str, loader: str, more: set[str]) -> None:
    expected = {"__class__": name, "__module__": module, "__loader__": loader}
    if not isinstance(node, dict) or {key: node.get(key) for key in expected} != expected:
        raise DamagedError(f"its schema has {node!r:.100} in place of {module}.{name}")
    if node.keys() != {*expected, *more, "__id__"} or type(node["__id__"]) is not int:
        raise DamagedError(f"its schema has {', '.join(sorted(node))} for {module}.{name}")


def _check_array(name: str, content: bytes) -> None:
    """Refuse an array whose header disagrees with its bytes: NumPy would allocate what the header says."""
    file = io.BytesIO(content)
    if np.lib.format.read_magic(file) != (1, 0):
        raise DamagedError(f"{name} is not an array of version 1.0")
    shape, _, dtype = np.lib.format.read_array_header_1_0(file)
    if dtype.str not in TYPES:
        raise DamagedError(f"{name} is an array of {dtype.str}; models have {', '.join(TYPES)}")
    n = 1
    for size in shape:
        n *= size
    if any(type(size) is not int or size < 0 for size in shape) or n * dtype.itemsize != len(content) - file.tell():
        raise DamagedError(f"{name} has {len(content) - file.tell():,} bytes for an array of the shape {shape}")


def _read_about(text: bytes) -> dict[str, Any]:
    about = json.loads(text)
    if not isinstance(about, dict) or _encode_json(about) != text:  # repeated names, NaN, lone surrogates
        raise DamagedError("what it says about itself is not written as models are")
    return about
