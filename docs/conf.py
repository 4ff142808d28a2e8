"""Settings of the documentation site; `make docs` builds it, warnings are errors."""

import sys
from pathlib import Path

import bayesmargin

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

project = "bayesmargin"
author = "the bayesmargin developers"
version = release = bayesmargin.__version__
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_gallery.gen_gallery",
    "mathml",
    "printed",
    "reference",
]

myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 3
templates_path = ["_templates"]
exclude_patterns = ["_build", "generated/gallery/*.ipynb", "generated/gallery/*.py"]
suppress_warnings = ["config.cache"]

# Programs of pages are run when their text has changed since their output was kept; with "never"
# (`-D printed_run=never`) that is an error instead, for machines that only build.
printed_run = "stale"

html_theme = "furo"
html_title = f"bayesmargin {version}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_math_renderer = "mathml"
html_show_sphinx = False
html_show_copyright = False
html_copy_source = False

autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_custom_sections = [("Attributes", "params_style")]
napoleon_use_param = False

# Cross references are checked. Types of other packages have no page here (the site is built
# without a network), and words such as "optional" in the types of parameters are no references.
nitpicky = True
nitpick_ignore_regex = [
    (r"py:.*", r"(numpy|np|scipy|sklearn|pandas|arviz|matplotlib|pathlib|collections|typing)\..*"),
    (r"py:class", r"[A-Z]|Number|.* .*"),  # letters and sentences
    (r"py:(func|data)", r"class_topics|DENSE_COLUMNS|OF_PRIOR|posterior_of"),
    (r"py:mod", r"bayesmargin\..*"),  # modules of the inside have no page
    (r"py:(class|obj)", r"[a-z0-9_(\[{\"'-][^.]*"),
]

sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "generated/gallery",
    "filename_pattern": r"plot_",
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "plot_gallery": "True",
    "abort_on_example_error": True,
    "min_reported_time": 0,
    "show_signature": False,
    "write_computation_times": False,
    "capture_repr": (),
}
