"""Damaged Parquet and Arrow files: no crash, no hang, no foreign exception; with page checksums no other content."""

import base64
import io
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pyarrow.parquet.encryption as encryption
import pytest
from damage.damage import EQUAL, ERROR, FILES, OTHER, damaged, outcomes

from termsieve.documents import read
from termsieve.documents.formats import read_column_names
from termsieve.documents.options import Options

pytestmark = pytest.mark.filterwarnings("ignore:skipped")  # said of each bad row

TEXTS = ["a fine film", "bad", "", "très long, 日本 and more than twelve bytes", "film"] * 12
LABELS = ["x", "yy", "zzz", "x"] * 15
SETS = [[label, "more"] if row % 3 == 0 else [label] for row, label in enumerate(LABELS)]


def table(text="string", labels=None):
    return pa.table({"text": pa.array(TEXTS, text), "label": pa.array(LABELS) if labels is None else labels})


TABLES = {
    "plain": table(),
    "large": table(pa.large_string()),
    "dictionary": table(labels=pa.array(LABELS).dictionary_encode()),
    "lists": table(labels=pa.array(SETS)),
    "large lists": table(labels=pa.array(SETS, pa.large_list(pa.large_string()))),
    "views": table(pa.string_view(), pa.array(LABELS, pa.string_view())),
    "list views": table(labels=pa.array(SETS, pa.list_view(pa.string()))),
    "numbers": table(labels=pa.array(range(60))),
    "dates": table(labels=pa.array(range(60)).cast(pa.timestamp("us", "Europe/Berlin"))),
    "missing": table(labels=pa.array([None if row % 7 == 0 else label for row, label in enumerate(LABELS)])),
}

# list views in Parquet are new in pyarrow 25
IN_PARQUET = [name for name in TABLES if name != "list views" or int(pa.__version__.partition(".")[0]) >= 25]


def parquet(content, **options):
    sink = io.BytesIO()
    pq.write_table(content, sink, **{"row_group_size": 25, "compression": "none", **options})
    return sink.getvalue()


def parquet_files(**options):
    """The same rows in many ways."""
    plain = TABLES["plain"]
    files = [
        parquet(TABLES[name], data_page_version=version, **options) for name in IN_PARQUET for version in ("1.0", "2.0")
    ]
    files += [parquet(plain, compression=name, **options) for name in ("snappy", "zstd", "lz4", "gzip", "brotli")]
    for encoding in ("PLAIN", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY"):
        encodings = {"text": encoding, "label": encoding}
        files.append(parquet(plain, use_dictionary=False, column_encoding=encodings, **options))
    return [*files, parquet(plain, store_schema=False, **options)]


def ipc_files(new):
    files = []
    for name, compression in [*((name, None) for name in TABLES), ("plain", "zstd"), ("lists", "lz4")]:
        sink = io.BytesIO()
        with new(sink, TABLES[name].schema, options=pa.ipc.IpcWriteOptions(compression=compression)) as writer:
            writer.write_table(TABLES[name], max_chunksize=25)
        files.append(sink.getvalue())
    return files


def feather_files():
    files = []
    for name in ("plain", "dictionary"):
        for compression in ("uncompressed", "lz4", "zstd"):
            sink = io.BytesIO()
            pyarrow.feather.write_feather(TABLES[name], sink, compression=compression, chunksize=25)
            files.append(sink.getvalue())
    return files


def content(path):
    """All documents; the columns are looked up first, as the command line does."""
    read_column_names(path, Options())
    return [row for batch in read(path) for row in batch.to_pylist()]


def try_all(files, path):
    """What came of damaged copies of all files, and what of it must not be."""
    files = files[:: max(1, 5 * len(files) // FILES)]  # five copies of each, or more
    contents = {}  # of the file that was damaged, by the damaged copy
    for number, data in enumerate(files):
        path.write_bytes(data)
        contents |= dict.fromkeys(damaged(data, FILES // len(files) + 1, seed=number), content(path))
    # one child reads the copies of all files: to start one takes longer than to read ten
    found, bad = outcomes(list(contents), lambda one: content(one) == contents[one.read_bytes()], path, expected=True)
    print(f"\n{path.name}: {dict(found)}")
    assert found[ERROR] > found[EQUAL]
    return found, [one for one in bad.values() if not one.startswith(OTHER)]


def test_parquet_with_page_checksums_is_read_as_it_was_or_not_at_all(tmp_path):
    found, bad = try_all(parquet_files(write_page_checksum=True), tmp_path / "checksums.parquet")
    assert not bad
    assert found[OTHER] <= sum(found.values()) / 500  # metadata has no checksum: most that is wrong in it is seen


def test_parquet_without_page_checksums_does_no_harm(tmp_path):
    assert not try_all(parquet_files(), tmp_path / "plain.parquet")[1]


@pytest.mark.parametrize("make", [pa.ipc.new_file, pa.ipc.new_stream])
def test_arrow_files_do_no_harm(tmp_path, make):
    assert not try_all(ipc_files(make), tmp_path / f"{make.__name__}.arrow")[1]


def test_feather_does_no_harm(tmp_path):
    assert not try_all(feather_files(), tmp_path / "x.feather")[1]


def test_every_flipped_bit_of_a_page_with_a_checksum_is_seen(tmp_path):
    """One row group and one page for each column: where the pages stand is known from the metadata."""
    data = parquet(TABLES["plain"], row_group_size=1000, use_dictionary=False, write_page_checksum=True)
    group = pq.ParquetFile(io.BytesIO(data)).metadata.row_group(0)
    path = tmp_path / "x.parquet"
    places = []
    for column in map(group.column, range(2)):
        end = column.data_page_offset + column.total_compressed_size
        places += range(end - column.total_compressed_size // 2, end)
    flipped = [
        data[:at] + bytes([data[at] ^ 1 << at % 8]) + data[at + 1 :] for at in places[:: max(1, len(places) // FILES)]
    ]
    found, bad = outcomes(flipped, content, path)
    assert not bad
    assert set(found) == {ERROR}


class KeysInTheOpen(encryption.KmsClient):
    """Keys that are no secret: all that matters here is that the file is encrypted."""

    def __init__(self, _config):
        super().__init__()

    def wrap_key(self, key_bytes, _master_key):
        return base64.b64encode(key_bytes)

    def unwrap_key(self, wrapped_key, _master_key):
        return base64.b64decode(wrapped_key)


def test_an_encrypted_column_is_refused(tmp_path):
    """pyarrow ends the process when it is asked for the size of a column that is encrypted, or says so by damage."""
    path = tmp_path / "x.parquet"
    keys = encryption.EncryptionConfiguration(footer_key="a", column_keys={"b": ["text"]}, plaintext_footer=True)
    factory = encryption.CryptoFactory(KeysInTheOpen)
    properties = factory.file_encryption_properties(encryption.KmsConnectionConfig(), keys)
    pq.write_table(TABLES["plain"], path, encryption_properties=properties)
    found, bad = outcomes([path.read_bytes()], content, path)
    assert not bad
    assert found == {ERROR: 1}


def with_a_wrong_offset(data):
    """An Arrow file in which the texts end far beyond their bytes."""
    texts = TABLES["plain"]["text"].chunk(0)
    offsets = np.frombuffer(texts.buffers()[1], np.int32)[:26].tobytes()
    at = data.index(offsets) + 4 * 25
    return data[:at] + np.int32(2**31 - 1).tobytes() + data[at + 4 :]


@pytest.mark.parametrize("ending", ["arrow", "parquet"])
def test_the_command_says_one_line(tmp_path, ending):
    path = tmp_path / f"x.{ending}"
    if ending == "parquet":
        path.write_bytes(parquet(TABLES["plain"], write_page_checksum=True).replace(b"film", b"filn"))
    else:
        path.write_bytes(with_a_wrong_offset(ipc_files(pa.ipc.new_file)[0]))
    command = [sys.executable, "-m", "termsieve", "rank", str(path), "-q"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"termsieve: {path}: ")
    assert done.stderr.count("\n") == 1


CUT_WHILE_READ = """
import os, sys
from termsieve.documents import read
from termsieve.errors import InputError

batches = iter(read(sys.argv[1]))
rows = next(batches).num_rows
os.truncate(sys.argv[1], 5000)
try:
    print(rows + sum(len(batch["text"].to_pylist()) for batch in batches))
except InputError as error:
    print(error)
"""


@pytest.mark.parametrize("ending", ["arrow", "parquet"])
def test_a_file_that_is_cut_while_it_is_read(tmp_path, ending):
    """A process that has mapped the file would end with SIGBUS; Arrow may have read all of a Parquet file by then."""
    path = tmp_path / f"x.{ending}"
    large = pa.table({"text": [f"text {row} " * 50 for row in range(40_000)], "label": ["x", "y"] * 20_000})
    if ending == "parquet":
        pq.write_table(large, path, row_group_size=5000, compression="none", use_dictionary=False)
    else:
        with pa.ipc.new_file(path, large.schema) as writer:
            writer.write_table(large, max_chunksize=5000)
    command = [sys.executable, "-c", CUT_WHILE_READ, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "40000\n" or done.stdout.startswith(f"{path}: the file cannot be read")
