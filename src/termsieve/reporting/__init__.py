"""A result comes in; one HTML page that needs nothing but a browser goes out, with figures on request.

::

    page             report(): the parts of a report in the template
    report_data      counts, scores and comparison, and what follows from them
    findings         headline and findings, in sentences
    charts           charts of a report, as Vega-Lite
    curve_charts     charts of F1 against the number of terms
    vocabulary_map   the terms of the map, as plain data
    term_index       an index of the whole vocabulary, in which the page looks terms up
    term_groups      the chart of terms that stand for each other
    try_box          the box in which a text is labelled
    change_page      the page of changes between periods
    figures          the critical-difference diagram; charts as PNG, SVG and PDF
    tables           tables and lists
    style            colours and style of the charts
    formatting       names and numbers as text
    rerun            how to make the report again: settings, command and snippet
    command          the command
    snippet          the snippet of Python
    origin           where the documents are from
"""

from termsieve.extras import require_extra

require_extra("report", "A report")

from termsieve.reporting.findings import list_findings  # noqa: E402 - they draw with the packages of the extra
from termsieve.reporting.page import report  # noqa: E402

__all__ = ["list_findings", "report"]
