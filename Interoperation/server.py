"""Foreign servers for the client of this package.

  server.py PEER PORT      serves /graphql; prints "ready PORT" once it listens; of port 0, the one that it got

Each peer is a file of `servers` with `application`. They serve the same schema, with fields that fail, that never end,
and a count of the sources still running.
"""

import importlib
import sys

import uvicorn


class Server(uvicorn.Server):
    async def startup(self, sockets=None):
        await super().startup(sockets)
        print("ready", self.servers[0].sockets[0].getsockname()[1], flush=True)


application = importlib.import_module("servers." + sys.argv[1]).application
Server(
    uvicorn.Config(
        application, host="127.0.0.1", port=int(sys.argv[2]), log_level="error", lifespan="off",
        timeout_graceful_shutdown=1)
).run()
