"""Reports: a result as one page of HTML that needs nothing but a browser.

`material` gathers what can be shown, as plain data; `charts` draws it; `page` puts it into the templates.
"""

from termsieve.extras import require_extra

require_extra("report", "A report")

from termsieve.reporting.findings import list_findings  # noqa: E402 - they draw with the packages of the extra
from termsieve.reporting.page import report  # noqa: E402

__all__ = ["list_findings", "report"]
