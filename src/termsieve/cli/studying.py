"""``study``: compare all scores on every corpus at hand."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from termsieve.cli.app import app
from termsieve.cli.inputs import Threads
from termsieve.cli.messages import Messages
from termsieve.cli.option_groups import expand_groups, flag, format_examples, option
from termsieve.views import format_percent

if TYPE_CHECKING:
    from rich.table import Table

    from termsieve.score_study.evidence import Evidence

STUDIES = ("scores",)
SETTINGS = ("full", "sample", "tiny")
_SHOWN = 10


def _complete_settings(incomplete: str) -> Iterator[str]:
    yield from (name for name in SETTINGS if name.startswith(incomplete))


@app.command(
    epilog=format_examples("termsieve study scores", "termsieve study scores --setting sample --into results"),
)
@expand_groups
def study(
    name: Annotated[str, typer.Argument(metavar="STUDY", help="scores: which score to take when nothing is known.")],
    *,
    setting: Annotated[
        str,
        option(
            "--setting", metavar="NAME", autocompletion=_complete_settings,
            help="Size of the study: full (an hour on two cores), sample or tiny (seconds) (default full).",
        ),
    ] = "full",
    into: Annotated[
        Path | None, option("--into", metavar="DIR", help="Write all results to scores.json in this folder.")
    ] = None,
    journals: Annotated[
        Path | None, option("--journals", metavar="DIR", help="Folder of the journals (default the user's cache).")
    ] = None,
    fresh: Annotated[bool, flag("--fresh", help="Discard the journals of earlier runs.")] = False,
    threads: Threads = None,
    messages: Messages,
) -> None:  # fmt: skip
    """Compare all scores on every corpus in the folder that TERMSIEVE_DATA names.

    A stopped run continues where it was.
    """
    from termsieve._progress import is_shown
    from termsieve.cli.screen import make_console
    from termsieve.counts.counting import resolve_threads
    from termsieve.errors import OptionError, did_you_mean
    from termsieve.files import make_folder, write_atomically
    from termsieve.score_study.evidence import Evidence
    from termsieve.score_study.protocol import load_study
    from termsieve.score_study.results import StudyResults
    from termsieve.score_study.run import run_study
    from termsieve.study.journal import locate_journals

    if name not in STUDIES:
        raise OptionError(f"Unknown study {name!r}. {did_you_mean(name, STUDIES)}Known: {', '.join(STUDIES)}.")
    protocol = load_study(setting)
    if into is not None:
        make_folder(into, "scores.json")
    folder = locate_journals(f"scores-{setting}", journals, fresh=fresh)
    run = run_study(
        protocol, folder, threads=resolve_threads(threads), say=messages.note, shown=is_shown(messages.progress)
    )
    results = StudyResults.from_run(run)
    if into is not None:
        write_atomically(into / "scores.json", [results.to_json().encode()])
    evidence = Evidence(results)
    make_console().print(_standings_table(evidence))
    messages.note(
        f"{evidence.n_problems} problems, {sum(results.cpu_minutes.values()):.1f} CPU minutes. Recommended: "
        f"{evidence.recommended.name}"
    )


def _standings_table(evidence: Evidence) -> Table:
    from termsieve.cli.screen import make_bare_table

    table = make_bare_table()
    for heading in ("score", "regret", "95 % interval", "mean rank", "comes again"):
        table.add_column(heading, justify="left" if heading == "score" else "right", no_wrap=True)
    for one in evidence.standings[:_SHOWN]:
        interval = f"{one.regret.low:.3f} to {one.regret.high:.3f}"
        table.add_row(one.name, f"{one.regret.mean:.3f}", interval, f"{one.rank:.1f}", format_percent(one.stability))
    return table
