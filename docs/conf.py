"""How the documentation is built: ``make docs``."""

from termsieve import __version__

project = "termsieve"
author = "The termsieve developers"
copyright = author  # noqa: A001, the name that Sphinx reads
release = __version__
extensions = ["myst_parser", "numpydoc", "sphinx.ext.autodoc"]
exclude_patterns = ["_build", "_generated", "results"]
html_theme = "furo"
html_title = "termsieve"
html_static_path = ["_static"]
html_css_files = ["site.css"]
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
myst_heading_anchors = 3  # links to headings, by the same names as on GitHub
suppress_warnings = ["myst.header"]  # pages that are included begin with a heading of the second level
