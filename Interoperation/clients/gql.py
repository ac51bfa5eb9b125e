"""The package gql, over websockets and over aiohttp."""

import asyncio

from gql import Client, FileVar, gql
from gql.transport.aiohttp import AIOHTTPTransport
from gql.transport.aiohttp_websockets import AIOHTTPWebsocketsTransport
from gql.transport.appsync_auth import AppSyncApiKeyAuthentication, AppSyncJWTAuthentication
from gql.transport.appsync_websockets import AppSyncWebsocketsTransport
from gql.transport.exceptions import TransportError, TransportQueryError
from gql.transport.websockets import WebsocketsTransport

ERRORS = (TransportError, OSError, asyncio.TimeoutError)
SUBPROTOCOLS = {"transport-ws": "graphql-transport-ws", "legacy": "graphql-ws"}


def transport(dialect, url, key):
    host = url.split("//")[1].split("/")[0]
    socket = url.replace("http://", "ws://")
    headers = {"x-api-key": key} if key else None
    dialect, _, library = dialect.partition("+")
    if dialect in SUBPROTOCOLS:
        kind = AIOHTTPWebsocketsTransport if library == "aiohttp" else WebsocketsTransport
        return kind(url=socket, subprotocols=[SUBPROTOCOLS[dialect]], init_payload=headers or {})
    if dialect == "appsync":
        auth = AppSyncApiKeyAuthentication(host=host, api_key=key or "any")
        return AppSyncWebsocketsTransport(url=socket + "/realtime", auth=auth)
    if dialect == "appsync-jwt":
        auth = AppSyncJWTAuthentication(host=host, jwt=key or "any")
        return AppSyncWebsocketsTransport(url=socket + "/realtime", auth=auth)
    return AIOHTTPTransport(url=url, headers=headers)


def told(error):
    """An error's messages, as the package hands them over."""
    if isinstance(error, TransportQueryError) and error.errors:
        # AppSync's errors are a list inside the payload, which the package passes on whole.
        flat = [inner for e in error.errors for inner in (e.get("errors", [e]) if isinstance(e, dict) else [e])]
        return [e.get("message", "") if isinstance(e, dict) else str(e) for e in flat]
    return [str(error) or type(error).__name__]


async def subscribe(dialect, url, document, key, settled):
    async with Client(transport=transport(dialect, url, key)) as session:
        stream = session.subscribe(gql(document))
        try:
            async for result in stream:
                yield {"data": result}
        finally:
            await stream.aclose()
            await settled()


def request(document, variables):
    request = gql(document)
    if variables:
        request.variable_values = variables
    return request


async def ask(dialect, url, requests):
    answers = []
    async with Client(transport=transport(dialect, url, None)) as session:
        for document, variables in requests:
            try:
                answers.append(await session.execute(request(document, variables)))
            except TransportQueryError as error:
                answers.append(error)
    return answers


async def batch(url, requests):
    async with Client(transport=AIOHTTPTransport(url=url)) as session:
        return await session.execute_batch([request(document, variables) for document, variables in requests])


async def upload(url, document, path):
    async with Client(transport=AIOHTTPTransport(url=url)) as session:
        return await session.execute(request(document, {"file": FileVar(path)}), upload_files=True)
