"""The package httpx-sse: GraphQL over server-sent events, with a connection for each operation or one for all.

The package reads the events; what GraphQL makes of them is written here, from the protocol's text.
"""

import json
import uuid

import httpx
import httpx_sse

ERRORS = (httpx.HTTPError, httpx_sse.SSEError, RuntimeError)


def told(error):
    return [str(error) or type(error).__name__]


def checked(response):
    if response.status_code >= 400:
        raise RuntimeError(response.text or str(response.status_code))
    return response


async def subscribe(dialect, url, document, key, settled):
    headers = {"x-api-key": key} if key else {}
    async with httpx.AsyncClient(timeout=50, headers=headers) as client:
        if dialect == "sse-single":
            stream = single(client, url + "/stream", document, settled)
        else:
            stream = distinct(client, url, document)
        try:
            async for value in stream:
                yield value
        finally:
            await stream.aclose()
            await settled()


async def ask(dialect, url, requests):
    """Queries and mutations are answered by events too, when these are all that is accepted."""
    answers = []
    async with httpx.AsyncClient(timeout=50) as client:
        for document, variables in requests:
            body = {"query": document, "variables": variables}
            async with httpx_sse.aconnect_sse(client, "POST", url, json=body) as source:
                events = [json.loads(event.data) async for event in source.aiter_sse() if event.event == "next"]
            errors = events[0].get("errors")
            answers.append(RuntimeError(errors[0]["message"]) if errors else events[0]["data"])
    return answers


async def distinct(client, url, document):
    async with httpx_sse.aconnect_sse(client, "POST", url, json={"query": document}) as source:
        if source.response.status_code >= 400:
            await source.response.aread()
            checked(source.response)
        async for event in source.aiter_sse():
            if event.event == "complete":
                return
            if event.event == "next":
                yield json.loads(event.data)
        raise RuntimeError("the stream ended before the operation")


async def single(client, url, document, settled):
    token = checked(await client.put(url)).text
    mine = {"x-graphql-event-stream-token": token}
    operation = str(uuid.uuid4())
    async with httpx_sse.aconnect_sse(client, "GET", url, headers=dict(mine)) as source:
        if source.response.status_code >= 400:
            await source.response.aread()
            checked(source.response)
        body = {"query": document, "extensions": {"operationId": operation}}
        accepted = checked(await client.post(url, json=body, headers=mine))
        if accepted.status_code != 202:
            raise RuntimeError("not accepted: %d %s" % (accepted.status_code, accepted.text))
        finished = False
        try:
            async for event in source.aiter_sse():
                if event.event not in ("next", "complete"):
                    continue
                message = json.loads(event.data)
                if message["id"] != operation:
                    continue
                if event.event == "complete":
                    finished = True
                    return
                yield message["payload"]
            raise RuntimeError("the stream ended before the operation")
        finally:
            if not finished:
                await client.delete(url, params={"operationId": operation}, headers=mine)
                await settled()
