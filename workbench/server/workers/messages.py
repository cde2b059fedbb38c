"""Send objects between the server and a worker over a socket, never in a file.

Large arrays are sent without a copy. Private rows, which refuse to be pickled, may
cross only these sockets. A measurer never does: the worker gets a `RemoteMeasurer` for
it.
"""

import io
import pickle
from multiprocessing.connection import Connection
from typing import Any

from dpcore.mechanisms.measurer import Measurer
from dpcore.tables.rows import Microdata
from workbench.server.workers.remote_measurer import RemoteMeasurer


class Channel:
    """One end of a socket between the server and a worker.

    Attributes:
        measurers: those that this end has sent, in order.
    """

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.measurers: list[Measurer] = []

    def send(self, message: Any) -> None:
        """Send any object that can be pickled.

        Raises: errors of pickling; OSError if the other end is gone.
        """
        data = io.BytesIO()
        buffers = list[pickle.PickleBuffer]()
        _Pickler(data, buffers, self.measurers).dump(message)
        parts = [data.getbuffer(), *(buffer.raw() for buffer in buffers)]
        self.connection.send([part.nbytes for part in parts])
        for part in parts:
            self.connection.send_bytes(part)

    def receive(self) -> Any:
        """Return the next object from the other end.

        Raises: EOFError, OSError if the other end is gone.
        """
        data, *parts = [bytearray(size) for size in self.connection.recv()]
        for part in (data, *parts):
            self.connection.recv_bytes_into(part)
        return pickle.loads(data, buffers=parts)


class _Pickler(pickle.Pickler):
    def __init__(
        self,
        file: io.BytesIO,
        buffers: list[pickle.PickleBuffer],
        measurers: list[Measurer],
    ) -> None:
        super().__init__(file, protocol=5, buffer_callback=buffers.append)
        self._measurers = measurers

    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, Microdata):
            return _restore_rows, (type(obj), vars(obj))
        if isinstance(obj, Measurer):
            self._measurers.append(obj)
            number = len(self._measurers) - 1
            return RemoteMeasurer, (
                number,
                obj.domain,
                obj.declared,
                obj.loss,
                obj.rows,
                obj.part,
            )
        return NotImplemented


def _restore_rows(kind: type[Microdata], fields: dict[str, Any]) -> Microdata:
    return kind(**fields)
