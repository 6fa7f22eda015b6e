"""The commands changes, sources, forget, kwic and keywords."""

import json

import pytest

import termsieve as ts


@pytest.fixture
def mail(tmp_path):
    rows = [
        {"text": "rain wind", "label": "x", "month": "2024-05"}, {"text": "sun", "label": "y", "month": "2024-05"},
        {"text": "sun sea", "label": "x", "month": "2024-06"}, {"text": "sun ice", "label": "y", "month": "2024-06"},
        {"text": "ice", "label": "x", "month": "2024-07"}, {"text": "ice", "label": "y", "month": "2024-07"},
    ]  # fmt: skip
    path = tmp_path / "mail.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture
def months(tmp_path):
    for name, texts in (("may", ["rain wind"] * 9 + ["sun"]), ("june", ["sun sea"] * 8 + ["rain wind"] * 2)):
        ts.count(texts, ["x", "y"] * 5).save(tmp_path / f"{name}.counts")
    return tmp_path / "may.counts", tmp_path / "june.counts"


def test_counts_of_two_periods_are_compared(typed, months):
    code, out, _ = typed("changes", *months, "-f", "jsonl")
    rows = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert {row["term"]: row["change"] for row in rows} == {"sea": "new", "sun": "rose", "rain": "fell", "wind": "fell"}
    assert rows[0]["inside"] + rows[0]["mix"] == pytest.approx(rows[0]["difference"])


def test_the_table_and_the_page_show_them(typed, months, tmp_path):
    code, out, _ = typed("changes", *months, "-f", "table", "--class", "x")
    assert code == 0
    assert "Changes in x between may (5 documents) and june (5 documents)" in out.replace("\n", " ")
    assert typed("changes", *months, "-o", tmp_path / "page.html")[0] == 0
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "inside classes" in page
    assert "<script" not in page


def test_no_number_is_cut_on_a_narrow_screen(typed, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    texts = {"before_the_change": ["averylongwordindeed"] * 9 + ["sun"], "after_the_change": ["sun sea"] * 9 + ["rain"]}
    for name, some in texts.items():
        ts.count(some, ["x", "y"] * 5).save(tmp_path / f"{name}.counts")
    _, out, _ = typed("changes", *(tmp_path / f"{name}.counts" for name in texts), "-f", "table")
    lines = [line.split() for line in out.splitlines()]
    (sea,) = (line for line in lines if line[:1] == ["sea"])
    assert sea[2:7] == ["0", "%", "90", "%", "+90.00"]  # the mark that it is new gives way
    assert float(sea[-2]) + float(sea[-1]) == pytest.approx(90)
    assert "…" not in "".join(sea[2:])
    assert max(map(len, out.splitlines())) <= 80


def test_a_column_divides_one_file(typed, mail, tmp_path):
    code, out, _ = typed("changes", mail, "--by", "month", "-f", "jsonl")
    rows = {row["term"]: row for row in map(json.loads, out.splitlines())}
    assert code == 0
    assert rows["ice"]["shares"] == [0.0, 0.5, 1.0]
    assert typed("changes", mail, "--by", "month", "-o", tmp_path / "page.html")[0] == 0
    assert "over time" in (tmp_path / "page.html").read_text("utf-8")
    assert "2024-05 to 2024-07" in typed("changes", mail, "--by", "month", "-f", "table")[1]


def test_dates_are_divided_by_the_month_or_week(typed, tmp_path):
    rows = ["2024-05-30,sun,x", "2024-05-31T09:00,sun,y", '"Sat, 1 Jun 2024 10:00:00 +0000",ice,x', "2024-06-03,ice,y"]
    path = tmp_path / "mail.csv"
    path.write_text("\n".join(["date,text,label", *rows]))
    code, out, _ = typed("changes", path, "--by", "date", "--every", "month", "-f", "jsonl")
    assert code == 0
    assert {row["term"]: row["df_after"] for row in map(json.loads, out.splitlines())} == {"ice": 2, "sun": 0}
    assert "2024-W22 (3 documents)" in typed("changes", path, "--by", "date", "--every", "week", "-f", "table")[1]
    path.write_text("date,text,label\n05/17/2024,sun,x\n05/18/2024,sun,y\n")
    code, _, err = typed("changes", path, "--by", "date", "--every", "month")
    assert code != 0
    assert "'05/17/2024' is not a date" in " ".join(err.split())
    assert "--by date" in typed("changes", path, path, "--every", "month")[2]


def test_each_class_is_shown_after_all_documents(typed, months):
    code, out, _ = typed("changes", *months, "--per-class", "-f", "jsonl")
    assert code == 0
    assert list(dict.fromkeys(json.loads(line)["class"] for line in out.splitlines())) == [None, "x", "y"]
    assert typed("changes", *months, "--per-class", "--class", "x")[0] != 0


def test_what_is_not_sure_is_no_headline(typed, mail, months, tmp_path):
    assert typed("changes", mail, "--by", "month", "-o", tmp_path / "page.html")[0] == 0
    assert "Nothing surely rose or fell." in (tmp_path / "page.html").read_text("utf-8")
    assert typed("changes", *months, "-o", tmp_path / "page.html")[0] == 0
    assert "Up: sea, sun. Down: rain, wind." in (tmp_path / "page.html").read_text("utf-8")


def test_an_order_that_is_none_or_not_of_trends_is_refused(typed, months, mail):
    code, _, err = typed("changes", *months, "--order", "size")
    assert code == 2
    assert "--order must be one of z, difference, ratio, not 'size'" in err
    code, _, err = typed("changes", mail, "--by", "month", "--order", "ratio")
    assert code == 2
    assert "--order ratio is for two periods; trends of 3 periods have one order" in err


def test_counts_to_forget_from_must_be_there(typed, mail, tmp_path):
    code, _, err = typed("forget", tmp_path / "nope.counts", mail)
    assert code == 1
    assert f"There is no file {tmp_path / 'nope.counts'}." in err


def test_one_period_is_too_few(typed, mail):
    code, _, err = typed("changes", mail)
    assert code != 0
    assert "--by month" in err


def test_terms_of_one_source_are_marked(typed, mail):
    code, out, err = typed("sources", mail, "--by", "month", "-k", 2, "-f", "jsonl")
    assert code == 0
    assert any(json.loads(line)["depends"] for line in out.splitlines())
    assert "sources is left out" in err
    assert typed("sources", mail, "--by", "month", "-f", "table")[0] == 0


def test_documents_are_forgotten_with_a_receipt(typed, tmp_path, mail):
    assert typed("count", mail, "-o", tmp_path / "all.counts")[0] == 0
    lines = mail.read_text().splitlines(keepends=True)
    (tmp_path / "gone.jsonl").write_text(lines[0])
    (tmp_path / "kept.jsonl").write_text("".join(lines[1:]))
    assert typed("count", tmp_path / "kept.jsonl", "-o", tmp_path / "kept.counts")[0] == 0
    code, _, err = typed("forget", tmp_path / "all.counts", tmp_path / "gone.jsonl")
    assert code == 0, err
    assert (tmp_path / "all.counts").read_bytes() == (tmp_path / "kept.counts").read_bytes()
    (line,) = (tmp_path / "all.counts.receipts.jsonl").read_text().splitlines()
    assert json.loads(line)["documents_by_class"] == {"x": 1}
    before = (tmp_path / "all.counts").read_bytes()
    code, _, err = typed("forget", tmp_path / "all.counts", tmp_path / "gone.jsonl")
    assert code != 0
    assert "Cannot subtract counts" in err
    assert (tmp_path / "all.counts").read_bytes() == before
    assert len((tmp_path / "all.counts.receipts.jsonl").read_text().splitlines()) == 1


def test_places_of_a_term_are_shown(typed, mail):
    code, out, _ = typed("kwic", mail, "sun", "-f", "jsonl", "--class", "x")
    assert code == 0
    assert [json.loads(line)["document"] for line in out.splitlines()] == [3]
    assert "sun" in typed("kwic", mail, "sun", "-f", "table")[1]
    assert "No document has it" in typed("kwic", mail, "snow", "-f", "table")[1]
    assert "'snow'" in typed("kwic", mail, "snow", "-f", "table")[1]


def test_words_near_a_term_are_shown(typed, mail):
    code, out, _ = typed("kwic", mail, "sun", "--collocates", "-f", "jsonl")
    assert code == 0
    assert out == ""  # none is near twice
    assert "log_dice" in typed("kwic", mail, "sun", "--collocates", "-f", "table")[1]


def test_a_text_is_contrasted_with_a_list_of_words(typed, mail, tmp_path):
    words = tmp_path / "words.csv"
    words.write_text("rank,Word,Freq\n1,sun,90\n2,the,9000\n")
    code, out, _ = typed("keywords", mail, "--reference", words, "-s", "log_ratio(min_df=1)", "-f", "jsonl")
    rows = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert {row["term"]: row["occurrences"] for row in rows} == {"ice": 3, "sun": 3, "rain": 1, "sea": 1, "wind": 1}
    assert rows[0]["term"] == "ice"
    code, out, _ = typed("keywords", mail, "--reference", words, "--against", "-f", "table")
    assert "9,000" in out
    ts.count(["sun sun", "sea"], ["x", "x"]).save(tmp_path / "other.counts")
    assert typed("keywords", mail, "--reference", tmp_path / "other.counts")[0] == 0
    code, _, err = typed("keywords", mail, "--reference", mail)
    assert code != 0
    assert "one column with words" in " ".join(err.split())
    assert "counts documents" in " ".join(typed("keywords", mail, "--reference", words, "-s", "chi2")[2].split())
