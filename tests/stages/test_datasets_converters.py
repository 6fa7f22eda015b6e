"""Each layout, as its corpus has it, in small."""

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import layouts

from termsieve.datasets.classfolders import convert_enron, convert_newsgroups, convert_ohsumed
from termsieve.datasets.odp import ENGLISH_CLASSES, convert_odp
from termsieve.datasets.rcv1 import convert_rcv1
from termsieve.datasets.reuters import convert_reuters, decode_entities, parse_articles
from termsieve.datasets.sms import convert_sms
from termsieve.errors import InputError


@pytest.fixture
def convert(tmp_path):
    """The documents that a converter makes from the contents of files."""

    def run(converter, *contents, **named):
        files = {f"archive{i}": content for i, content in enumerate(contents)} | named
        paths = {}
        for name, content in files.items():
            paths[name] = tmp_path / name
            paths[name].write_bytes(content)
        return list(converter(paths))

    return run


def document(identity, split, labels, text, **more):
    return {"id": identity, "split": split, "labels": labels, "text": text, **more}


# Folders


def test_newsgroups_come_by_group_and_number(convert):
    documents = [
        document("rec.autos/900", None, ["rec.autos"], "From: a\n\ncar\n"),
        document("rec.autos/10100", None, ["rec.autos"], "From: b\n\ncaf\xe9 \x80\n"),
        document("sci.med/5", None, ["sci.med"], "From: c\r\n\nmed\n"),
    ]
    assert convert(convert_newsgroups, layouts.tar_bytes(layouts.newsgroups_archive(documents))) == documents


def test_newsgroups_by_date_have_their_parts_training_first(convert):
    documents = [
        document("train/sci.med/7", "train", ["sci.med"], "x"),
        document("test/rec.autos/3", "test", ["rec.autos"], "y"),
    ]
    assert convert(convert_newsgroups, layouts.tar_bytes(layouts.newsgroups_archive(documents))) == documents


def test_cross_posts_that_are_hard_links_are_documents(convert):
    link = layouts.link_entry("20_newsgroups/b.c/2", "20_newsgroups/a.b/1", layouts.tarfile.LNKTYPE)
    found = convert(convert_newsgroups, layouts.tar_bytes([("20_newsgroups/a.b/1", b"same"), link]))
    assert [(one["id"], one["text"]) for one in found] == [("a.b/1", "same"), ("b.c/2", "same")]


def test_mail_comes_by_name_with_plain_ends_of_lines_and_without_the_summary(convert):
    documents = [
        document("enron1/ham/0001.1999-12-10.farmer.ham", None, ["ham"], "Subject: a\nb"),
        document("enron1/spam/0006.2003-12-18.GP.spam", None, ["spam"], "Subject: \xbd\n"),
    ]
    archive = layouts.tar_bytes(layouts.enron_archive(documents))
    assert b"\r\n" in gzip.decompress(archive)
    assert convert(convert_enron, archive) == documents


def test_an_abstract_in_several_folders_has_several_labels(convert):
    documents = [
        document("train/0000002", "train", ["C12", "C23"], "Title.\n Text.\n"),
        document("train/0000010", "train", ["C01"], "Other.\n"),
        document("test/0000001", "test", ["C12"], "Third.\n"),
    ]
    assert convert(convert_ohsumed, layouts.tar_bytes(layouts.ohsumed_archive(documents))) == documents


def test_an_abstract_that_differs_between_folders_is_the_first_and_said(convert):
    archive = layouts.tar_bytes([("training/C02/1", b"two"), ("training/C01/1", b"one"), ("test/C01/1", b"three")])
    with pytest.warns(UserWarning, match="1 files differ"):
        found = convert(convert_ohsumed, archive)
    assert [(one["id"], one["labels"], one["text"]) for one in found] == [
        ("train/1", ["C01", "C02"], "one"),
        ("test/1", ["C01"], "three"),
    ]


# SMS


def test_messages_are_lines_whatever_they_hold(convert):
    texts = ['He said "hi', " \x85 £ 鈥\x1c\x0b ", "tab\there", "&lt;#&gt;", ""]
    documents = [document(f"sms-{i:04d}", None, ["ham", "spam"][i % 2 : i % 2 + 1], t) for i, t in enumerate(texts, 1)]
    assert convert(convert_sms, layouts.zip_bytes(layouts.sms_archive(documents))) == documents


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"ham\tfine\nhello there\n", "line 2: begins with 'hello there'"),
        (b"ham\t\xff\n", "not UTF-8"),
        (b"", "line 1"),
    ],
)
def test_what_are_no_messages_is_refused(convert, content, said):
    with pytest.raises(InputError, match=said):
        convert(convert_sms, layouts.zip_bytes([("SMSSpamCollection", content)]))


# Reuters


def meta(**given):
    blank = {"topics_attr": "YES", "lewissplit": "TRAIN", "cgisplit": "TRAINING-SET", "text_type": "NORM"}
    blank |= {"dateline": "", "title": "", "places": [], "people": [], "orgs": [], "exchanges": []}
    return blank | given


REUTERS = [
    document(
        "1", "train", ["acq", "ship"], "A & B <C> SAY\nSaid it would.\n Reuter\n",
        meta=meta(title="A & B <C> SAY", dateline="OSLO, Feb 26 -", places=["norway", "usa"], people=["a-b"]),
    ),
    document(
        "2", "test", [], " HEADLINE ONLY\n",
        meta=meta(title=" HEADLINE ONLY\n", text_type="BRIEF", lewissplit="TEST", orgs=["ec"], exchanges=["nyse"]),
    ),
    document("3", None, ["earn"], "\nTABLE\n  1.5  x\n\n", meta=meta(text_type="UNPROC", topics_attr="NO")),
    document(
        "4", None, ["earn"], "T\nB\xfc\n",
        meta=meta(title="T", dateline="X", lewissplit="NOT-USED", cgisplit="PUBLISHED-TESTSET"),
    ),
    document("5", None, [], "T\nB\n", meta=meta(title="T", dateline="X", topics_attr="BYPASS")),
]  # fmt: skip


def test_articles_have_text_topics_split_and_what_stands_beside(convert):
    assert convert(convert_reuters, layouts.tar_bytes(layouts.reuters_archive(REUTERS))) == REUTERS


def test_articles_of_many_files_come_by_number(convert, monkeypatch):
    monkeypatch.setattr(layouts, "FILES", 2)
    assert convert(convert_reuters, layouts.tar_bytes(layouts.reuters_archive(REUTERS))) == REUTERS


@pytest.mark.parametrize("dropped", ["reut2-000.sgm", "reut2-001.sgm"])
def test_a_missing_file_is_named(convert, monkeypatch, dropped):
    monkeypatch.setattr(layouts, "FILES", 2)
    members = [member for member in layouts.reuters_archive(REUTERS) if member[0] != dropped]
    with pytest.raises(InputError, match=f"{dropped} is missing"):
        convert(convert_reuters, layouts.tar_bytes(members))
    with pytest.raises(InputError, match=r"reut2-000.sgm is missing"):
        convert(convert_reuters, layouts.tar_bytes([("README.txt", b"")]))


def test_an_article_that_does_not_end_is_an_error():
    text = layouts.reuters_article(REUTERS[0]) + layouts.reuters_article(REUTERS[1])
    with pytest.raises(InputError, match="after article 1, one begins that does not end"):
        list(parse_articles("x.sgm", text[:-20]))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [('NEWID="1"', "", "no NEWID"), ("<TEXT>", "", "no TEXT"), ('TOPICS="YES" ', "", "no TOPICS")],
)
def test_an_article_that_lacks_something_is_an_error(old, new, said):
    with pytest.raises(InputError, match=f"x.sgm, article 1: has {said}"):
        list(parse_articles("x.sgm", layouts.reuters_article(REUTERS[0]).replace(old, new)))


@given(st.text(st.characters(codec="latin-1", exclude_categories=["Cc"], include_characters="\n\t")))
def test_entities_go_there_and_back(text):
    assert decode_entities(layouts.escaped(text)) == text
    assert decode_entities("".join(f"&#{ord(char)};" for char in text)) == text
    assert decode_entities("&#2;".join(map(layouts.escaped, text))) == text


@given(st.text(st.sampled_from("&#;ltgamp0123456789x<> \n\x03")))
def test_decoding_never_fails_and_leaves_no_control_character(text):
    assert not set(decode_entities(text)) & set(map(chr, [*range(9), *range(11, 32), 127]))


@pytest.mark.parametrize("kept", ["AT&T", "&", "&nbsp;", "&#xe9;", "R&D; x", "&#55296;", "&#99999999;"])
def test_what_is_no_entity_stays(kept):
    assert decode_entities(kept) == kept


@pytest.mark.parametrize(("text", "expected"), [("&#127;&#0;&#31;a", "a"), ("&amp;lt;", "&lt;"), ("&#38;lt;", "&lt;")])
def test_references_are_resolved_once(text, expected):
    assert decode_entities(text) == expected


normal_text = st.text(st.characters(codec="latin-1", exclude_categories=["Cc"], include_characters="\n"), min_size=1)


@given(st.lists(st.tuples(normal_text, normal_text, normal_text), max_size=4))
def test_any_article_goes_there_and_back(given_articles):
    documents = [
        document(
            str(i), "train", ["earn"], f"{title}\n{body}", meta=meta(title=title, dateline=dateline.strip())
        )
        for i, (title, body, dateline) in enumerate(given_articles)
    ]  # fmt: skip
    assert list(parse_articles("x.sgm", "".join(map(layouts.reuters_article, documents)))) == documents


# RCV1

RCV1 = [
    document("2286", "train", ["ECAT"], "recov recov excit\nbring mexic", topics=["E11", "ECAT", "M11", "MCAT"]),
    document("2287", "train", ["CCAT"], "tok", topics=["C24", "CCAT"]),
    document("26151", "test", ["GCAT"], "tok", topics=["GCAT"]),
    document("26152", "test", [], "", topics=["XYZ"]),
]


def test_tokens_get_their_first_top_topic(convert):
    assert convert(convert_rcv1, **layouts.rcv1_files(RCV1)) == RCV1


def test_token_files_may_be_unpacked(convert):
    files = {name: gzip.decompress(content) for name, content in layouts.rcv1_files(RCV1).items()}
    assert convert(convert_rcv1, **files) == RCV1


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("lyrl2004_tokens_train.dat.gz", b"text without\n", "line 1: 'text without' stands before"),
        ("lyrl2004_tokens_train.dat.gz", b".I 1\ntoken\n", "line 2: 'token' stands before"),
        ("lyrl2004_tokens_train.dat.gz", b".I x\n", "line 1: '.I x' names no document"),
        ("lyrl2004_tokens_train.dat.gz", gzip.compress(b".I 1\n.W\nx\n", mtime=0)[:-9], "damaged, cut off"),
        ("rcv1-v2.topics.qrels.gz", b"E11 2286 1\nECAT\n", "line 2: is b'ECAT'"),
        ("rcv1-v2.topics.qrels.gz", b"E11 x 1\n", "line 1"),
    ],
)
def test_what_is_no_file_of_rcv1_is_refused(convert, name, content, said):
    with pytest.raises(InputError, match=said):
        convert(convert_rcv1, **(layouts.rcv1_files(RCV1) | {name: content}))


# ODP

PAGES = [
    ("http://a.example/?x=1&y", "Arts & <Crafts>", "All\n  about  it.", "Top/Arts/Crafts"),
    ("http://b.example/", "Welt", "Auf Deutsch", "Top/World/Deutsch"),
    ("http://c.example/", "Kids", "", "Top/Kids_and_Teens/School_Time"),
    ("http://d.example/", "Enfants", "", "Top/Kids_and_Teens/International/Français"),
    ("http://e.example/", "Region", "", "Top/Regional/Europe"),
    ("http://f.example/", "Sport 漢字", "Ü", "Top/Sports"),
]


def test_pages_of_the_13_classes_have_title_and_description(convert):
    assert convert(convert_odp, gzip.compress(layouts.odp_file(PAGES))) == [
        document(
            "odp-0000001", None, ["Arts"], "Arts & <Crafts>\nAll about it.",
            url="http://a.example/?x=1&y", topic="Top/Arts/Crafts",
        ),
        document(
            "odp-0000002", None, ["Kids_and_Teens"], "Kids",
            url="http://c.example/", topic="Top/Kids_and_Teens/School_Time",
        ),
        document("odp-0000003", None, ["Sports"], "Sport 漢字\nÜ", url="http://f.example/", topic="Top/Sports"),
    ]  # fmt: skip


def test_there_are_13_classes():
    assert len(set(ENGLISH_CLASSES)) == 13


def test_pages_of_two_files_are_numbered_on(convert):
    found = convert(convert_odp, layouts.odp_file(PAGES[:1]), layouts.odp_file(PAGES[2:3]))
    assert [one["id"] for one in found] == ["odp-0000001", "odp-0000002"]


def test_a_large_file_comes_in_parts(convert, monkeypatch):
    whole = convert(convert_odp, layouts.odp_file(PAGES))
    for size in (1, 7, 100):
        monkeypatch.setattr("termsieve.datasets.odp.CHUNK_BYTES", size)
        assert convert(convert_odp, layouts.odp_file(PAGES)) == whole


def test_what_no_xml_may_hold_is_left_out(convert):
    content = layouts.odp_file([("u", "TITLE", "", "Top/Arts")])
    for bad in (b"\x0b", b"\xef\xbf\xbf", b"&#11;", b"&#x1F;", b"&#00;"):
        assert convert(convert_odp, content.replace(b"TITLE", b"a" + bad + b"b"))[0]["text"] == "ab"
    for good, text in ((b"&#10;", "a b"), (b"&#x41;", "aAb"), (b"&#110;", "anb"), (b"\xff", "a\ufffdb")):
        assert convert(convert_odp, content.replace(b"TITLE", b"a" + good + b"b"))[0]["text"] == text


def test_rdf_that_is_cut_off_is_refused(convert):
    with pytest.raises(InputError, match="cut off"):
        convert(convert_odp, layouts.odp_file(PAGES)[:-30])


def test_rdf_without_ends_of_lines_is_refused_before_it_fills_the_memory(convert, monkeypatch):
    monkeypatch.setattr("termsieve.datasets.archives.MAX_LINE_BYTES", 500)
    with pytest.raises(InputError, match="a line of more than 500 bytes"):
        convert(convert_odp, layouts.odp_file(PAGES).replace(b"\n", b" "))


def test_a_document_type_is_refused_before_its_entities_grow(convert):
    laughs = b'<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]>\n<RDF>&b;</RDF>'
    with pytest.raises(InputError, match="declares a document type"):
        convert(convert_odp, laughs)
