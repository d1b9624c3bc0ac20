"""Client of Nacre's HTTP API.

    import nacre

    with nacre.Client(project="shop") as client:
        for hit in client.search("retry policy")["results"]:
            print(hit["title"])
"""

from . import types
from ._async import AsyncEventStream, AsyncTask
from ._errors import NacreError
from ._sync import EventStream, Task
from ._wire import VERSION as __version__
from .client import AsyncClient, Client

__all__ = [
    "AsyncClient",
    "AsyncEventStream",
    "AsyncTask",
    "Client",
    "EventStream",
    "NacreError",
    "Task",
    "__version__",
    "types",
]
