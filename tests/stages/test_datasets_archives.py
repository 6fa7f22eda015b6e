"""What comes out of archives, and what is refused: an archive from the network may be anything."""

import bz2
import gzip
import io
import lzma
import stat
import tarfile
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.layouts import folder_entry, link_entry, tar_bytes, zip_bytes

from termsieve.datasets.archives import CHUNK_BYTES, Limits, open_unpacked, read_lines, read_members
from termsieve.errors import InputError

FILES = [("top/a", b"one"), ("top/b", b"two" * 400), ("top/c", b"")]


def everything(_name):
    return True


def read(path, wanted=everything, **limits):
    return list(read_members(path, wanted, Limits(**limits)))


@pytest.fixture
def put(tmp_path):
    def write(content, name="archive"):
        path = tmp_path / name
        path.write_bytes(content)
        return path

    return write


@pytest.mark.parametrize("packing", ["", "gz", "bz2", "xz"])
def test_members_of_a_tar_file_come_in_order(put, packing):
    assert read(put(tar_bytes([folder_entry("top"), *FILES], packing))) == FILES


def test_members_of_a_zip_file_come_in_order(put):
    assert read(put(zip_bytes(FILES))) == FILES


@pytest.mark.parametrize("make", [tar_bytes, zip_bytes])
def test_only_wanted_members_come(put, make):
    assert read(put(make(FILES)), lambda name: name.endswith("b")) == FILES[1:2]


@pytest.mark.parametrize("make", [tar_bytes, zip_bytes])
def test_names_lose_what_says_nothing(put, make):
    assert read(put(make([("./top//a", b"x")]))) == [("top/a", b"x")]


def test_nothing_is_written(put, tmp_path, monkeypatch):
    path = put(tar_bytes(FILES))
    monkeypatch.chdir(tmp_path)
    read(path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["archive"]


@pytest.mark.parametrize("name", ["../evil", "top/../../evil", "/etc/evil", "C:/evil", "..\\evil", "top/.."])
@pytest.mark.parametrize("make", [tar_bytes, zip_bytes])
def test_names_that_climb_out_are_refused_even_where_nobody_wants_them(put, make, name):
    with pytest.raises(InputError, match="leads out of its folder"):
        read(put(make([*FILES, (name, b"x")])), lambda _: False)


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE])
def test_links_and_devices_in_tar_files_are_refused(put, kind):
    with pytest.raises(InputError, match="is a link or a device"):
        read(put(tar_bytes([*FILES, link_entry("top/d", "a", kind)])))


def test_a_hard_link_has_the_content_of_the_member_it_names(put):
    archive = tar_bytes([*FILES, link_entry("top/d", "top/b", tarfile.LNKTYPE)])
    assert read(put(archive))[-1] == ("top/d", FILES[1][1])


@pytest.mark.parametrize(("target", "said"), [("top/none", "link"), ("/etc/passwd", "leads"), ("../x", "leads")])
def test_a_hard_link_to_anything_else_is_refused(put, target, said):
    with pytest.raises(InputError, match=said):
        read(put(tar_bytes([*FILES, link_entry("top/d", target, tarfile.LNKTYPE)])))


def test_links_in_zip_files_are_refused(put):
    info = zipfile.ZipInfo("link")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    with pytest.raises(InputError, match="is a link"):
        read(put(zip_bytes([*FILES, (info, b"/etc/passwd")])))


@pytest.mark.parametrize("packing", ["", "gz", "bz2", "xz"])
def test_a_tar_file_that_is_cut_off_is_refused(put, packing):
    whole = tar_bytes([(f"top/{i}", bytes(range(256)) * i) for i in range(20)], packing)
    reached = len(whole) // 2 if packing else len(whole) - 10_240 - 700  # packing pads the end with zeros
    for cut in {reached, reached // 3, 700}:
        with pytest.raises(InputError, match=r"damaged|cut off"):
            read(put(whole[:cut]))


def test_a_gzip_file_without_its_checksum_is_refused(put):
    with pytest.raises(InputError, match="damaged, cut off"):
        read(put(tar_bytes(FILES)[:-8]))


def test_a_gzip_file_with_a_wrong_checksum_is_refused(put):
    content = bytearray(tar_bytes(FILES))
    content[-8] ^= 1
    with pytest.raises(InputError, match="damaged, cut off"):
        read(put(bytes(content)))


def test_a_damaged_header_is_not_taken_for_the_end(put):
    content = bytearray(tar_bytes(FILES, ""))
    content[2 * 512 + 10] ^= 0xFF  # in the header of the second member
    with pytest.raises(InputError, match="from byte 1,024 on"):
        read(put(bytes(content)))


def test_a_zip_file_that_is_cut_off_or_damaged_is_refused(put):
    whole = bytearray(zip_bytes(FILES))
    with pytest.raises(InputError, match="zip file"):
        read(put(bytes(whole[:-30])))
    whole[whole.index(b"one") + 1 if b"one" in whole else 40] ^= 0xFF
    with pytest.raises(InputError, match="zip file"):
        read(put(bytes(whole)))


@pytest.mark.parametrize("content", [b"", b"<html>not found</html>", b"\x1f\x8bnonsense", b"PK nonsense", b"x" * 2000])
def test_what_is_no_archive_is_refused(put, content):
    with pytest.raises(InputError, match="archive: is "):
        read(put(content))


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_bombs_are_refused_by_their_ratio(put, pack):
    path = put(pack(tar_bytes([("zeros", bytes(40 * CHUNK_BYTES))], "")))
    with pytest.raises(InputError, match="more than 100 times as many, which is the limit"):
        read(path, lambda _: False)


def test_zip_bombs_are_refused_by_their_ratio(put):
    with pytest.raises(InputError, match="more than 100 times as many"):
        read(put(zip_bytes([("zeros", bytes(40 * CHUNK_BYTES))])))


@pytest.mark.parametrize("make", [tar_bytes, zip_bytes])
def test_the_total_is_limited(put, make):
    path = put(make(FILES))
    with pytest.raises(InputError, match="unpacks to more than 1,000 bytes, which is the limit"):
        read(path, total=1000)


@pytest.mark.parametrize("make", [tar_bytes, zip_bytes])
def test_the_number_of_members_is_limited(put, make):
    path = put(make(FILES))
    assert len(read(path, members=3)) == 3
    with pytest.raises(InputError, match="has more than 2 members, which is the limit"):
        read(path, members=2)


def test_little_text_that_packs_well_is_no_bomb(put):
    assert len(read(put(tar_bytes([("zeros", bytes(CHUNK_BYTES // 2))])))) == 1


@given(st.lists(st.binary(max_size=30).filter(lambda line: b"\n" not in line and b"\r" not in line), min_size=1))
def test_lines_are_those_of_the_unpacked_file(tmp_path_factory, given_lines):
    given_lines = [b".I 1", *given_lines]  # a text does not begin as a packed file does
    path = tmp_path_factory.mktemp("lines") / "file"
    for content in (b"\n".join(given_lines) + b"\n", b"\r\n".join(given_lines) + b"\r\n"):
        for pack in (bytes, gzip.compress):
            path.write_bytes(pack(content))
            assert list(read_lines(path)) == given_lines


def test_a_line_without_end_is_refused(put, monkeypatch):
    monkeypatch.setattr("termsieve.datasets.archives.MAX_LINE_BYTES", 10)
    assert list(read_lines(put(b"123456789\nx"))) == [b"123456789", b"x"]
    with pytest.raises(InputError, match="a line of more than 10 bytes, which is the limit"):
        list(read_lines(put(b"12345678901\nx")))


def test_a_stream_counts_what_comes(put):
    content = b"abc\0\0"
    with open_unpacked(put(gzip.compress(content))) as stream:
        assert io.BufferedReader(stream).read() == content
        assert (stream.count, stream.content_end) == (5, 3)
