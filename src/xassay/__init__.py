"""xassay measures how much of a local explanation is true."""

__version__ = "0.1.0"
