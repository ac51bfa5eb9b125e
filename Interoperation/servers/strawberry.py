"""strawberry-graphql: both WebSocket protocols, multipart and server-sent events, parts by @defer, lists, uploads."""

import asyncio
from typing import AsyncGenerator, Optional

import strawberry
from strawberry.asgi import GraphQL
from strawberry.file_uploads import Upload
from strawberry.schema.config import StrawberryConfig
from strawberry.subscriptions import (
    GRAPHQL_SSE_PROTOCOL,
    GRAPHQL_TRANSPORT_WS_PROTOCOL,
    GRAPHQL_WS_PROTOCOL,
    MULTIPART_SUBSCRIPTION_PROTOCOL,
)

from . import sources


@strawberry.type
class Slow:
    fast: int = 1

    @strawberry.field
    async def late(self) -> int:
        await asyncio.sleep(0.05)
        return 2


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
        return sources.count()

    @strawberry.field
    def slow(self) -> Slow:
        return Slow()


@strawberry.type
class Mutation:
    @strawberry.mutation
    def say(self, text: str) -> str:
        return "said " + text

    @strawberry.mutation
    async def keep(self, file: Upload) -> str:
        return "%s %s" % (file.filename, (await file.read()).decode())


@strawberry.type
class Subscription:
    @strawberry.subscription
    async def tick(self, up_to: int, fail_at: Optional[int] = None) -> AsyncGenerator[int, None]:
        async for number in sources.tick(up_to, fail_at):
            yield number

    @strawberry.subscription
    async def forever(self) -> AsyncGenerator[int, None]:
        source = sources.forever()
        try:
            async for number in source:
                yield number
        finally:
            await source.aclose()


schema = strawberry.Schema(
    Query, Mutation, Subscription, config=StrawberryConfig(enable_experimental_incremental_execution=True))
application = GraphQL(
    schema,
    multipart_uploads_enabled=True,
    subscription_protocols=[
        GRAPHQL_TRANSPORT_WS_PROTOCOL, GRAPHQL_WS_PROTOCOL, GRAPHQL_SSE_PROTOCOL, MULTIPART_SUBSCRIPTION_PROTOCOL],
)
