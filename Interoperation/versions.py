"""Prints the versions of the peers, as one line of JSON."""

import json
from importlib.metadata import version

PEERS = [
    "aiohttp", "appsync-ws-client", "ariadne", "gql", "httpx", "httpx-sse", "sgqlc", "strawberry-graphql", "uvicorn",
    "websocket-client", "websockets"]
print(json.dumps({name: version(name) for name in PEERS}))
