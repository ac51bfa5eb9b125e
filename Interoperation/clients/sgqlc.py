"""The package sgqlc over websocket-client: the older graphql-ws, one thread for each subscription."""

import asyncio

import websocket
from sgqlc.endpoint.http import HTTPEndpoint
from sgqlc.endpoint.websocket import WebSocketEndpoint

# It raises ValueError, with the message in its text, for whatever is no `data`.
ERRORS = (ValueError, OSError, websocket.WebSocketException)


def told(error):
    return [str(error) or type(error).__name__]


async def subscribe(dialect, url, document, key, settled):
    payload = {"x-api-key": key} if key else None
    answers = WebSocketEndpoint(url.replace("http://", "ws://"), payload, timeout=50)(document)
    try:
        while (answer := await asyncio.to_thread(next, answers, None)) is not None:
            yield answer
    finally:
        # It has no way to say that one subscription ends; it closes the connection.
        answers.close()
        await settled()


class Failed(Exception):
    pass


async def ask(dialect, url, requests):
    answers = []
    for document, variables in requests:
        if dialect == "http":
            answer = await asyncio.to_thread(HTTPEndpoint(url), document, variables)
        else:
            endpoint = WebSocketEndpoint(url.replace("http://", "ws://"), timeout=50)
            answer = (await asyncio.to_thread(list, endpoint(document, variables)))[0]
        errors = answer.get("errors")
        answers.append(Failed(errors[0]["message"]) if errors else answer["data"])
    return answers
