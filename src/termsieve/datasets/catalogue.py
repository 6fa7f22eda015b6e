"""The corpora of the papers, and two stand-ins for corpora that cannot be obtained."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from termsieve.datasets.classfolders import convert_enron, convert_newsgroups, convert_ohsumed
from termsieve.datasets.odp import convert_odp
from termsieve.datasets.rcv1 import convert_rcv1
from termsieve.datasets.records import Archive, Dataset
from termsieve.datasets.reuters import convert_reuters
from termsieve.datasets.sms import convert_sms
from termsieve.errors import OptionError, did_you_mean

_QWONE = "http://qwone.com/~jason/20Newsgroups/"
_UCI = "https://archive.ics.uci.edu/"
_JMLR = (
    "http://www.ai.mit.edu/projects/jmlr/papers/volume5/lewis04a/",
    "https://www.jmlr.org/papers/volume5/lewis04a/",
)
_NEWS_LICENCE = "none stated (UCI: CC BY 4.0)"
_LANG = "Lang (1995), NewsWeeder: learning to filter netnews, ICML"


def _rcv1_archive(part: str, size: int) -> Archive:
    name = f"lyrl2004_tokens_{part}.dat.gz"
    return Archive(name, tuple(f"{base}a12-token-files/{name}" for base in _JMLR), size=size)


_RECORDS = (
    Dataset(
        name="20news_19997",
        title="20 Newsgroups, all 19,997 articles",
        home=_QWONE,
        licence=_NEWS_LICENCE,
        citation=_LANG,
        documents=19_997,
        classes=20,
        size=16_312_473,
        papers=("gu", "pip"),
        archives=(
            Archive(
                "20news-19997.tar.gz",
                (f"{_QWONE}20news-19997.tar.gz",),
                sha256="ab7bbf82b7831f7dbb1a09d9312f66fa78565c8de25526999b0d66f69d37e414",
                size=17_332_201,
            ),
        ),
        converter=convert_newsgroups,
        sha256="a78ca1cd9c0a372b811bc7f7c8f5e2d618e7f9c07316235739834748d16e90dc",
        fingerprint="263ab0ea69b85714e0c3934f1f75eded0822887b94265e9b99b0145fe45f2b68",
    ),
    Dataset(
        name="20news_bydate",
        title="20 Newsgroups, split by date",
        home=_QWONE,
        licence=_NEWS_LICENCE,
        citation=_LANG,
        documents=18_846,
        classes=20,
        splits=MappingProxyType({"train": 11_314, "test": 7_532}),
        size=13_712_840,
        papers=("ocfs",),
        archives=(
            Archive(
                "20news-bydate.tar.gz",
                (f"{_QWONE}20news-bydate.tar.gz", "https://ndownloader.figshare.com/files/5975967"),
                sha256="8f1b2514ca22a5ade8fbb9cfa5727df95fa587f4c87b786e15c759fa66d95610",
                size=14_464_277,
            ),
        ),
        converter=convert_newsgroups,
        sha256="f3bbf8f6513bdcad18d8aaa32a9d72c0f62d3f6818aead120e2aa9de5d1c6f1a",
        fingerprint="dac1a947649ad2477b14d383b91ff818fff9144b69e0c137ec809ac970b5af0f",
    ),
    Dataset(
        name="reuters21578",
        title="Reuters-21578, distribution 1.0, ModApte split",
        home="http://www.daviddlewis.com/resources/testcollections/reuters21578/",
        licence="for research purposes only",
        citation="Lewis (1997), Reuters-21578 text categorization test collection, distribution 1.0",
        documents=21_578,
        classes=120,
        splits=MappingProxyType({"train": 9_603, "test": 3_299, None: 8_676}),
        size=7_309_307,
        papers=("pip", "imbalanced"),
        archives=(
            Archive(
                "reuters21578.tar.gz",
                (
                    "http://www.daviddlewis.com/resources/testcollections/reuters21578/reuters21578.tar.gz",
                    "https://kdd.ics.uci.edu/databases/reuters21578/reuters21578.tar.gz",
                    f"{_UCI}ml/machine-learning-databases/reuters21578-mld/reuters21578.tar.gz",
                ),
                sha256="3bae43c9b14e387f76a61b6d82bf98a4fb5d3ef99ef7e7075ff2ccbcf59f9d30",
                size=8_150_596,
            ),
        ),
        converter=convert_reuters,
        sha256="4f3221ce86105dc073d885f83ff5e938106d0afbbff72847856abe64e51036c2",
        fingerprint="6ded6e604f52a9ca9a0917414ce9f88474cdbce7b64c86117e44a53672da85ec",
    ),
    Dataset(
        name="enron1",
        title="Enron-Spam, the first of six mailboxes, pre-processed form",
        home="https://www2.aueb.gr/users/ion/data/enron-spam/",
        licence="none stated",
        citation="Metsis, Androutsopoulos, Paliouras (2006), Spam filtering with naive Bayes: which naive Bayes?, CEAS",
        documents=5_172,
        classes=2,
        size=1_597_509,
        papers=("ifs",),
        archives=(
            Archive(
                "enron1.tar.gz",
                (
                    "https://www2.aueb.gr/users/ion/data/enron-spam/preprocessed/enron1.tar.gz",
                    "http://nlp.cs.aueb.gr/software_and_datasets/Enron-Spam/preprocessed/enron1.tar.gz",
                ),
                sha256="3d6a1fcced6c30b1701a3fd04c6b912d7046208f6ef6f4fdcf022f64bdc6c32f",
            ),
        ),
        converter=convert_enron,
        sha256="c7c5c3c60fed21c9624be11d3c3001c35b6015464fcbde1069a52f882142c7c0",
        fingerprint="dcd860666aab2c6e98b161a62a4ba170c23c7f281f9d004ff321b47a04ec66d4",
    ),
    Dataset(
        name="sms_spam",
        title="SMS Spam Collection v.1",
        home=f"{_UCI}dataset/228/sms+spam+collection",
        licence="free, cite the paper (UCI: CC BY 4.0)",
        citation="Almeida, Gomez Hidalgo, Yamakami (2011), Contributions to the study of SMS spam filtering, DocEng",
        documents=5_574,
        classes=2,
        size=243_207,
        papers=("ifs",),
        archives=(
            Archive(
                "smsspamcollection.zip",
                (
                    f"{_UCI}static/public/228/sms+spam+collection.zip",
                    f"{_UCI}ml/machine-learning-databases/00228/smsspamcollection.zip",
                ),
                sha256="1587ea43e58e82b14ff1f5425c88e17f8496bfcdb67a583dbff9eefaf9963ce3",
                size=203_415,
            ),
        ),
        converter=convert_sms,
        sha256="2c2672972c570e52331120156a84854050658044e6d8bdf479fee14b6c18e7fe",
        fingerprint="a0eed9d9171f0cb0b2debc7fb40a46fa912e96ac06fe1fc830e4ed9e57f21218",
    ),
    Dataset(
        name="ohsumed_20000",
        title="OHSUMED, first 20,000 abstracts of 1991, 23 classes of diseases",
        home="http://disi.unitn.it/moschitti/corpora.htm",
        licence="free for research",
        citation="Hersh, Buckley, Leone, Hickam (1994), OHSUMED, SIGIR; split of Joachims (1998)",
        documents=13_929,
        classes=23,
        splits=MappingProxyType({"train": 6_286, "test": 7_643}),
        size=5_714_243,
        archives=(
            Archive(
                "ohsumed-first-20000-docs.tar.gz",
                ("http://disi.unitn.it/moschitti/corpora/ohsumed-first-20000-docs.tar.gz",),
            ),
        ),
        converter=convert_ohsumed,
        sha256="b21203cc722c6973efa5ec4e8047348e4a7363f8a4f379f118e0f6162f9b0dca",
        fingerprint="b188b3e61bc2d139e009bfa19948d54c362554f91f89ecbec84385b247e78b47",
    ),
    Dataset(
        name="rcv1",
        title="Reuters Corpus Volume 1, version 2 (LYRL2004), token files, four top topics",
        home="https://www.jmlr.org/papers/volume5/lewis04a/lyrl2004_rcv1v2_README.htm",
        licence="token files free for research",
        citation="Lewis, Yang, Rose, Li (2004), RCV1: a new benchmark collection, JMLR 5",
        documents=804_414,
        classes=4,
        splits=MappingProxyType({"train": 23_149, "test": 781_265}),
        papers=("ocfs",),
        archives=(
            _rcv1_archive("train", 5_108_963),
            _rcv1_archive("test_pt0", 44_734_992),
            _rcv1_archive("test_pt1", 45_595_102),
            _rcv1_archive("test_pt2", 44_507_510),
            _rcv1_archive("test_pt3", 42_052_117),
            Archive(
                "rcv1-v2.topics.qrels.gz",
                (
                    *(f"{base}a08-topic-qrels/rcv1-v2.topics.qrels.gz" for base in _JMLR),
                    "https://ndownloader.figshare.com/files/5976048",
                ),
                sha256="2a98e5e5d8b770bded93afc8930d88299474317fe14181aee1466cc754d0d1c1",
            ),
        ),
        converter=convert_rcv1,
    ),
    Dataset(
        name="odp",
        title="Open Directory Project, first level, 13 English classes",
        home="http://rdf.dmoz.org/",
        licence="Open Directory License",
        citation="Open Directory Project, RDF dump",
        classes=13,
        papers=("ocfs",),
        archives=(Archive("content.rdf.u8.gz"), Archive("kt-content.rdf.u8.gz", optional=True)),
        converter=convert_odp,
        note="The Open Directory closed in March 2017 and its dumps have no home any more. "
        "Where you have content.rdf.u8.gz (and kt-content.rdf.u8.gz, with Kids and Teens, where that is a file of its "
        "own), give it with --from.",
    ),
    Dataset(
        name="arxiv_abstracts",
        title="arXiv titles and abstracts of 2017 to 2019",
        home="https://info.arxiv.org/help/bulk_data.html",
        licence="metadata CC0",
        citation="arXiv metadata",
        documents=132_358,
        classes=110,
        splits=MappingProxyType({"train": 81_545, "test": 50_813}),
        size=50_992_067,
        papers=("ocfs",),
        stand_in_for="rcv1",
        sha256="4c9433ca68fe0ba73705f0ab4ecdcd373d8bbb40028cee60655a026754e6c92e",
        fingerprint="1be35cb517ba6feffbb49db981cc9985366f1e796e4e76d7f8f2cd0e820ba203",
        note="It is derived from the metadata of arXiv, is no published benchmark, and has no archive to download.",
    ),
    Dataset(
        name="arxiv_titles",
        title="arXiv titles",
        home="https://info.arxiv.org/help/bulk_data.html",
        licence="metadata CC0",
        citation="arXiv metadata",
        documents=402_198,
        classes=127,
        splits=MappingProxyType({"train": 307_007, "test": 95_191}),
        size=14_638_954,
        papers=("ocfs",),
        stand_in_for="odp",
        sha256="910352eb7c1589020d7aa79cd35da14160010397d478096af2ad08340a5eaf82",
        fingerprint="29548546f4acba4e7787021446a1c3a477ccac0faded8679d9222ab8b838ef6e",
        note="It is derived from the metadata of arXiv, is no published benchmark, and has no archive to download.",
    ),
)

CORPORA: Mapping[str, Dataset] = MappingProxyType({record.name: record for record in _RECORDS})


def lookup_dataset(name: str) -> Dataset:
    """Return the record of a corpus by its name."""
    if name not in CORPORA:
        raise OptionError(f"There is no corpus {name!r}. {did_you_mean(name, CORPORA)}Known are: {', '.join(CORPORA)}.")
    return CORPORA[name]
