"""The curator: the only access to private rows."""

from dpcore.curator._cells import open_linked_with_cells as open_linked_with_cells
from dpcore.curator._cells import open_with_cells as open_with_cells
from dpcore.curator.curator import Curator as Curator
from dpcore.curator.linked import LinkedCurator as LinkedCurator
