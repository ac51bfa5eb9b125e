"""A foreign server, strawberry-graphql on uvicorn, for the client of this package.

  server.py PORT      serves /graphql; prints "ready" once it listens

Fields that fail, that never end, and a count of the sources still running.
"""

import asyncio
import sys
from typing import AsyncGenerator, Optional

import strawberry
import uvicorn
from strawberry.asgi import GraphQL
from strawberry.subscriptions import (
    GRAPHQL_SSE_PROTOCOL,
    GRAPHQL_TRANSPORT_WS_PROTOCOL,
    GRAPHQL_WS_PROTOCOL,
    MULTIPART_SUBSCRIPTION_PROTOCOL,
)

running = 0
notes: list = []
listeners: set = set()


@strawberry.type
class Note:
    id: strawberry.ID
    text: Optional[str]


@strawberry.type
class Query:
    @strawberry.field
    def hello(self, name: str = "world") -> str:
        return "hello " + name

    @strawberry.field
    def fails(self) -> Optional[str]:
        raise ValueError("it failed")

    @strawberry.field
    def running(self) -> int:
        return running


@strawberry.type
class Mutation:
    @strawberry.mutation
    async def add_note(self, text: str) -> Note:
        note = Note(id=strawberry.ID(str(len(notes) + 1)), text=text)
        notes.append(note)
        for listener in list(listeners):
            await listener.put(note)
        return note


@strawberry.type
class Subscription:
    @strawberry.subscription
    async def tick(self, up_to: int, fail_at: Optional[int] = None) -> AsyncGenerator[int, None]:
        for number in range(1, up_to + 1):
            if number == fail_at:
                raise ValueError("it failed at %d" % number)
            yield number

    @strawberry.subscription
    async def forever(self) -> AsyncGenerator[int, None]:
        global running
        running += 1
        try:
            number = 0
            while True:
                number += 1
                yield number
                await asyncio.sleep(0.01)
        finally:
            running -= 1

    @strawberry.subscription
    async def note_added(self) -> AsyncGenerator[Note, None]:
        queue: asyncio.Queue = asyncio.Queue()
        listeners.add(queue)
        try:
            while True:
                yield await queue.get()
        finally:
            listeners.discard(queue)


schema = strawberry.Schema(Query, Mutation, Subscription)
protocols = [
    GRAPHQL_TRANSPORT_WS_PROTOCOL, GRAPHQL_WS_PROTOCOL, GRAPHQL_SSE_PROTOCOL, MULTIPART_SUBSCRIPTION_PROTOCOL]
handler = GraphQL(schema, subscription_protocols=protocols)


class Server(uvicorn.Server):
    async def startup(self, sockets=None):
        await super().startup(sockets)
        print("ready", flush=True)


configuration = uvicorn.Config(
    handler, host="127.0.0.1", port=int(sys.argv[1]), log_level="error", lifespan="off", timeout_graceful_shutdown=1)
Server(configuration).run()
