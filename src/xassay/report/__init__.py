"""What people see: saved results as a view, and the view as a page. Computes no score."""

from xassay.report.page import write
from xassay.report.view import load
from xassay.views import View

__all__ = ["View", "load", "write"]
