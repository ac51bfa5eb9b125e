"""ariadne: both WebSocket protocols, server-sent events, uploads."""

from ariadne import MutationType, QueryType, SubscriptionType, make_executable_schema, upload_scalar
from ariadne.asgi import GraphQL
from ariadne.asgi.handlers import GraphQLHTTPHandler, GraphQLTransportWSHandler, GraphQLWSHandler
from ariadne.contrib.sse import SSESubscriptionHandler

from . import sources

types = """
scalar Upload
type Query { hello(name: String = "world"): String! fails: String running: Int! }
type Mutation { say(text: String!): String! keep(file: Upload!): String! }
type Subscription { tick(upTo: Int!, failAt: Int): Int! forever: Int! }
"""
query, mutation, subscription = QueryType(), MutationType(), SubscriptionType()
query.set_field("hello", lambda *_, name: "hello " + name)
query.set_field("running", lambda *_: sources.count())
mutation.set_field("say", lambda *_, text: "said " + text)


@query.field("fails")
def fails(*_):
    raise ValueError("it failed")


@mutation.field("keep")
async def keep(*_, file):
    return "%s %s" % (file.filename, (await file.read()).decode())


@subscription.source("tick")
async def tick(*_, upTo, failAt=None):  # noqa: N803
    async for number in sources.tick(upTo, failAt):
        yield number


@subscription.source("forever")
async def forever(*_):
    source = sources.forever()
    try:
        async for number in source:
            yield number
    finally:
        await source.aclose()


subscription.set_field("tick", lambda number, *_, **__: number)
subscription.set_field("forever", lambda number, *_: number)
schema = make_executable_schema(types, query, mutation, subscription, upload_scalar)


class EitherWebSocket:
    """This peer has one handler for each WebSocket protocol; the subprotocol that is offered chooses."""

    def __init__(self):
        self.modern = GraphQL(
            schema, websocket_handler=GraphQLTransportWSHandler(),
            http_handler=GraphQLHTTPHandler(subscription_handlers=[SSESubscriptionHandler()]))
        self.older = GraphQL(schema, websocket_handler=GraphQLWSHandler())

    async def __call__(self, scope, receive, send):
        offered = scope.get("subprotocols", [])
        is_older = scope["type"] == "websocket" and "graphql-transport-ws" not in offered
        await (self.older if is_older else self.modern)(scope, receive, send)


application = EitherWebSocket()
