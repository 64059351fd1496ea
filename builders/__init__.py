"""From raw corpora to a SocKET release: the corpora, the pipeline and the command line."""

__version__ = "2.0.0"
