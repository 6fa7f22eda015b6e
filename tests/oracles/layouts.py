"""Archives in the layouts of the real corpora, made from documents: the way back from what the converters do."""

import gzip
import io
import tarfile
import zipfile

FILES = 1000  # articles in a file of Reuters-21578


def tar_bytes(members, packing="gz"):
    """A tar file of (name, content) pairs, or of TarInfo objects where something odd is wanted."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=f"w:{packing}") as archive:
        for member in members:
            if isinstance(member, tarfile.TarInfo):
                archive.addfile(member)
                continue
            name, content = member
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def folder_entry(name):
    info = tarfile.TarInfo(name)
    info.type = tarfile.DIRTYPE
    return info


def link_entry(name, target, kind=tarfile.SYMTYPE):
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


def zip_bytes(members):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return buffer.getvalue()


def newsgroups_archive(documents):
    tops = {"train": "20news-bydate-train", "test": "20news-bydate-test", None: "20_newsgroups"}
    for document in reversed(documents):  # the order of an archive is no order
        group, number = document["id"].split("/")[-2:]
        yield f"{tops[document['split']]}/{group}/{number}", document["text"].encode("latin-1")


def enron_archive(documents):
    yield folder_entry("enron1")
    yield "enron1/Summary.txt", b"Legitimate\r\n----------\r\n"
    for document in reversed(documents):
        text = document["text"].replace("\r\n", "\n").replace("\n", "\r\n")
        yield f"{document['id']}.txt", text.encode("latin-1")


def ohsumed_archive(documents):
    tops = {"train": "training", "test": "test"}
    for document in documents:
        number = document["id"].split("/")[1]
        for label in document["labels"]:
            name = f"ohsumed-first-20000-docs/{tops[document['split']]}/{label}/{number}"
            yield name, document["text"].encode("latin-1")


def sms_archive(documents):
    lines = (f"{document['labels'][0]}\t{document['text']}\n" for document in documents)
    yield "SMSSpamCollection", "".join(lines).encode()
    yield "readme", b"SMS Spam Collection v.1\r\n"


def reuters_archive(documents):
    yield "lewis.dtd", b"<!ELEMENT LEWIS (REUTERS*)>\n"
    files = [documents[at : at + FILES] for at in range(0, len(documents), FILES)]
    for number, part in reversed(list(enumerate(files))):
        text = "".join(map(reuters_article, part))
        yield f"reut2-{number:03d}.sgm", f'<!DOCTYPE lewis SYSTEM "lewis.dtd">\n{text}'.encode("latin-1")
    yield "README.txt", b"Reuters-21578"


def reuters_article(document):
    meta = document["meta"]
    lists = "".join(f"<{n.upper()}>{items(meta[n])}</{n.upper()}>\n" for n in ("places", "people", "orgs", "exchanges"))
    return (
        f'<REUTERS TOPICS="{meta["topics_attr"]}" LEWISSPLIT="{meta["lewissplit"]}" CGISPLIT="{meta["cgisplit"]}" '
        f'OLDID="5544" NEWID="{document["id"]}">\n<DATE>26-FEB-1987 15:01:01.79</DATE>\n'
        f"<TOPICS>{items(document['labels'])}</TOPICS>\n{lists}<COMPANIES></COMPANIES>\n"
        f"<UNKNOWN> \n&#5;&#5;&#5;C T\n&#22;&#22;&#1;f0704&#31;reute\nu f BC-X-&lt;Y>   02-26 0105</UNKNOWN>\n"
        f"{text_element(document['text'], meta)}\n</REUTERS>\n"
    )


def text_element(text, meta):
    title = escaped(meta["title"])
    if meta["text_type"] == "BRIEF":
        return f'<TEXT TYPE="BRIEF">&#2;\n******<TITLE>{title}</TITLE>Blah blah blah.\n&#3;\n\n</TEXT>'
    if meta["text_type"] == "UNPROC":
        return f'<TEXT TYPE="UNPROC">&#2;{escaped(text)}</TEXT>'
    body = escaped(text[len(meta["title"]) + 1 :])
    dateline = f"<DATELINE>    {escaped(meta['dateline'])} </DATELINE>"
    return (
        f"<TEXT>&#2;\n<TITLE>{title}</TITLE>\n<AUTHOR>    By N. N.</AUTHOR>\n{dateline}<BODY>{body}&#3;</BODY></TEXT>"
    )


def items(values):
    return "".join(f"<D>{value}</D>" for value in values)


def escaped(text):
    return text.replace("&", "&amp;").replace("<", "&lt;")


def rcv1_files(documents):
    """Contents of the six files of LYRL2004, by name."""
    parts = {f"lyrl2004_tokens_{part}.dat.gz": [] for part in ("train", "test_pt0", "test_pt1", "test_pt2", "test_pt3")}
    topics = []
    tests = 0
    for document in documents:
        part = "train" if document["split"] == "train" else f"test_pt{tests % 4}"
        tests += document["split"] == "test"
        parts[f"lyrl2004_tokens_{part}.dat.gz"].append(f".I {document['id']}\n.W\n{document['text']}\n\n")
        topics += [f"{topic} {document['id']} 1\n" for topic in document["topics"]]
    files = {name: gzip.compress("".join(records).encode("latin-1")) for name, records in parts.items()}
    return files | {"rcv1-v2.topics.qrels.gz": gzip.compress("".join(topics).encode("ascii"))}


def odp_file(pages):
    """RDF of (url, title, description, topic) rows."""
    body = "".join(
        f'<Topic r:id="{topic}">\n  <catid>7</catid>\n  <link r:resource="{escaped(url)}"/>\n</Topic>\n'
        f'<ExternalPage about="{escaped(url)}">\n  <d:Title>{escaped(title)}</d:Title>\n'
        f"  <d:Description>{escaped(text)}</d:Description>\n  <topic>{topic}</topic>\n</ExternalPage>\n"
        for url, title, text, topic in pages
    )
    return (
        "<?xml version='1.0' encoding='UTF-8' ?>\n<RDF xmlns:r=\"http://www.w3.org/TR/RDF/\" "
        'xmlns:d="http://purl.org/dc/elements/1.0/" xmlns="http://dmoz.org/rdf/">\n'
        f"<!-- Generated at 2005-02-06 00:30:59 EST from DMOZ 2.0 -->\n{body}</RDF>\n"
    ).encode()
