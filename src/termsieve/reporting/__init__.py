"""Reports: a result as one page of HTML that needs nothing but a browser.

`material` gathers what can be shown, as plain data; `charts` draws it; `page` puts it into the templates.
"""

from termsieve.reporting.findings import findings
from termsieve.reporting.page import report

__all__ = ["findings", "report"]
