"""The package appsync-ws-client, which speaks AppSync's protocol without knowing AWS.

It writes errors into its log, which is read here, and does not report completion; so a stream ends after an error only.
"""

import asyncio
import logging

from appsync_ws_client.client import GraphQLWebSocketClient

TELLS_COMPLETION = False
ERRORS = (OSError, TimeoutError, RuntimeError)


def told(error):
    return [str(error) or type(error).__name__]


class Errors(logging.Handler):
    def __init__(self, loop, queue):
        super().__init__(logging.ERROR)
        self.loop, self.queue = loop, queue

    def emit(self, record):
        message = record.getMessage()
        self.loop.call_soon_threadsafe(self.queue.put_nowait, RuntimeError(message))


async def subscribe(dialect, url, document, key, settled):
    loop, queue = asyncio.get_running_loop(), asyncio.Queue()
    log = logging.getLogger("appsync_ws_client.client")
    log.propagate = False
    log.handlers = [Errors(loop, queue)]
    host = url.split("//")[1].split("/")[0]
    client = GraphQLWebSocketClient(
        url.replace("http://", "ws://") + "/realtime", lambda: {"host": host, "x-api-key": key or "any"}, max_retries=0)
    client.connect()
    name = await asyncio.to_thread(
        client.subscribe, document, {}, lambda payload: loop.call_soon_threadsafe(queue.put_nowait, payload))
    try:
        while True:
            value = await queue.get()
            if isinstance(value, Exception):
                raise value
            yield value
    finally:
        client.unsubscribe(name)
        await settled()
        log.handlers = []
        # Its reader would dial again when it sees the end; the process ends it.
