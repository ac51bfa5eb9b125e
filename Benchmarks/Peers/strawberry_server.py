"""The peer of the fan-out figure: strawberry on uvicorn, one queue per subscriber, fed by a route.

    python strawberry_server.py PORT

POST /go?rounds=R&burst=B&interval=US sends every subscriber bursts of B events. No database is written: the peer's
figure is the delivery alone.
"""

import asyncio
import sys
from typing import AsyncGenerator

import strawberry
import uvicorn
from strawberry.asgi import GraphQL

PAD = " and some more text for the size of it"
queues: set[asyncio.Queue] = set()


def checksum(number):
    value = 0xCBF29CE484222325
    for digit in str(number).encode():
        value = ((value ^ digit) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return "%016x" % value


@strawberry.type
class Reading:
    id: strawberry.ID
    topic: str
    number: int
    text: str
    sent: str


@strawberry.type
class Query:
    @strawberry.field
    def ready(self) -> bool:
        return True


@strawberry.type
class Subscription:
    @strawberry.subscription
    async def on_create_reading(self) -> AsyncGenerator[Reading, None]:
        queue: asyncio.Queue = asyncio.Queue()
        queues.add(queue)
        try:
            while True:
                yield await queue.get()
        finally:
            queues.discard(queue)


graphql = GraphQL(strawberry.Schema(query=Query, subscription=Subscription))
number = 0


async def go(rounds, burst, interval):
    global number
    due = asyncio.get_running_loop().time()
    for _ in range(rounds):
        for _ in range(burst):
            event = Reading(id="9f03a1c27d114b529a7c0e53f6a3c911", topic="t0", number=number,
                            text=checksum(number) + PAD, sent="1700000000000000000")
            number += 1
            for queue in queues:
                queue.put_nowait(event)
        due += interval / 1e6
        await asyncio.sleep(max(0, due - asyncio.get_running_loop().time()))


running = set()


async def app(scope, receive, send):
    if scope["type"] == "http" and scope["path"] == "/go":
        words = dict(pair.split("=") for pair in scope["query_string"].decode().split("&"))
        task = asyncio.ensure_future(go(int(words["rounds"]), int(words["burst"]), int(words["interval"])))
        running.add(task)
        task.add_done_callback(running.discard)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"%d" % len(queues)})
    elif scope["type"] == "http" and scope["path"] == "/subscribers":
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"%d" % len(queues)})
    else:
        await graphql(scope, receive, send)


uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[1]), log_level="error", ws_max_queue=1024)
