"""Reports: one self-contained HTML page about a fitted model."""

from bayesmargin.report.page import write_report

__all__ = ["write_report"]
