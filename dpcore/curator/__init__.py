"""The curator, which is the one door to private rows."""

from dpcore.curator.curator import Curator as Curator
