"""Counts of DataFrames of Spark: the same as of the documents here."""

import pyarrow as pa
import pytest
from engine_documents import RECORDS, check_folds, check_same, columns, make_documents
from spark_sessions import require_java, start_session

import termsieve as ts
from termsieve.errors import CountsFileError, InputError, OptionError, OutputError, TermsieveWarning

pytestmark = pytest.mark.filterwarnings("default")  # of pyspark, about the newest pandas


@pytest.fixture(scope="module")
def session():
    require_java()
    session = start_session("local[2]")
    yield session
    session.stop()


@pytest.fixture(scope="module")
def frame(session):
    return session.createDataFrame(pa.table(columns("id", "text", "labels", "part")))


@pytest.mark.parametrize("partitions", [2, 19])
def test_counts_are_those_of_the_documents(frame, partitions):
    import termsieve.spark

    check_same(termsieve.spark.count, frame.repartition(partitions))


def test_folds_are_those_of_the_documents_here(frame):
    import termsieve.spark

    check_folds(termsieve.spark.count, frame.repartition(4))


@pytest.mark.parametrize(("ranges", "min_df"), [(1, 3), (3, 1)])
def test_counts_on_storage_and_their_scores_are_those_made_here(frame, tmp_path, ranges, min_df):
    import termsieve.spark

    path = str(tmp_path / "counts")
    stored = termsieve.spark.count(
        frame.repartition(5), text="text", label="labels", to=path, ranges=ranges, min_df=min_df
    )
    here = make_documents() if min_df == 1 else make_documents().prune(min_df=min_df)
    assert stored.to_counts() == here
    assert stored.n_terms == here.n_terms
    for name in ("chi2", "g_test", "log_odds_dirichlet", "bns"):
        assert termsieve.spark.score(path, name, 15) == ts.score(here, name).top(15)
    assert stored.score("chi2", 4, per_class=True) == ts.score(here, "chi2").top(4, per_class=True)
    with pytest.raises(OutputError, match="has counts already"):
        termsieve.spark.count(frame, text="text", label="labels", to=path)


def test_path_that_is_not_whole_is_refused(session, tmp_path):
    import termsieve.spark

    with pytest.raises(CountsFileError, match="there is no folder 'facts', which is written last"):
        termsieve.spark.load(str(tmp_path), session)


def test_bad_rows_are_counted_over_all_partitions(session):
    import termsieve.spark

    rows = [*RECORDS, {"id": 900, "text": None, "labels": ["x"], "part": "a"}]
    frame = session.createDataFrame(pa.Table.from_pylist(rows)).repartition(3)
    with pytest.warns(TermsieveWarning, match=rf"skipped 1 bad row of {len(rows)}: missing text 1; .*partition \d"):
        assert termsieve.spark.count(frame, text="text", label="labels") == make_documents()
    with pytest.raises(InputError, match=r"^partition \d of the DataFrame, row \d+: missing text"):
        termsieve.spark.count(frame, text="text", label="labels", strict=True)


def test_mistakes_are_told_before_anything_is_counted(frame):
    import termsieve.spark

    with pytest.raises(InputError, match=r"there is no column 'txet'\. Did you mean 'text'"):
        termsieve.spark.count(frame, text="txet")
    with pytest.raises(OptionError, match="A number of folds needs id="):
        termsieve.spark.count(frame, folds=3)
    with pytest.raises(OptionError, match="to= goes without folds"):
        termsieve.spark.count(frame, folds="part", to="somewhere")
    with pytest.raises(OptionError, match="goes with to="):
        termsieve.spark.count(frame, ranges=3)


def test_vectors_are_those_of_the_vectorizer_here_and_come_again_from_a_file(session, frame, tmp_path):
    from pyspark.ml import Pipeline, PipelineModel

    import termsieve.spark

    texts, labels = columns("text")["text"], columns("part")["part"]
    for options, theirs in (
        (dict(score_func="chi2", k=30, weighting="tfidf"), dict(scoreFunc="chi2", k=30, weighting="tfidf")),
        (dict(min_df=2), dict(minDF=2)),
    ):
        here = ts.TermVectorizer(**options)
        expected = here.fit_transform(texts, labels).toarray()
        stage = termsieve.spark.TermVectorizer(inputCol="text", labelCol="part", outputCol="features", **theirs)
        Pipeline(stages=[stage]).write().overwrite().save(str(tmp_path / "pipeline"))
        model = Pipeline.load(str(tmp_path / "pipeline")).fit(frame)
        model.write().overwrite().save(str(tmp_path / "model"))
        again = PipelineModel.load(str(tmp_path / "model"))
        assert again.stages[0].vocabulary == here.get_feature_names_out().tolist()
        rows = again.transform(frame).select("id", "features").collect()
        found = {row["id"]: row["features"].toArray() for row in rows}
        for i, row in enumerate(expected):
            assert found[i] == pytest.approx(row, abs=1e-12)
