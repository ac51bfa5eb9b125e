"""A foreign client, the Python package gql, against a server of this package.

  client.py DIALECT URL SCENARIO      prints what happened as one line of JSON

DIALECT: transport-ws, legacy, appsync, http, multipart. SCENARIO:

  values      subscribes to `tick(upTo: 3)` and prints the values and how it ended
  failing     subscribes to `tick(upTo: 3, failAt: 2)` and prints values and errors
  refused     subscribes to a field that does not exist and prints the error
  live        subscribes to created notes and prints the first, which somebody else writes
  cancelled   subscribes to `forever`, leaves after two values, prints them
  reconnect   subscribes until the connection is lost, subscribes again, leaves after one note, prints all notes
  query       a query with variables; a failing one; a mutation
"""

import asyncio
import json
import sys

from gql import Client, gql
from gql.transport.aiohttp import AIOHTTPTransport
from gql.transport.appsync_auth import AppSyncApiKeyAuthentication
from gql.transport.appsync_websockets import AppSyncWebsocketsTransport
from gql.transport.exceptions import TransportError, TransportQueryError
from gql.transport.websockets import WebsocketsTransport

DIALECT, URL, SCENARIO = sys.argv[1:4]


def transport():
    host = URL.split("//")[1].split("/")[0]
    socket = URL.replace("http://", "ws://")
    if DIALECT == "transport-ws":
        return WebsocketsTransport(url=socket, subprotocols=["graphql-transport-ws"])
    if DIALECT == "legacy":
        return WebsocketsTransport(url=socket, subprotocols=["graphql-ws"])
    if DIALECT == "appsync":
        auth = AppSyncApiKeyAuthentication(host=host, api_key="interoperation")
        return AppSyncWebsocketsTransport(url=socket + "/realtime", auth=auth)
    return AIOHTTPTransport(url=URL)


def told(error):
    """An error's messages, as the package hands them over."""
    if isinstance(error, TransportQueryError) and error.errors:
        # AppSync's errors are a list inside the payload, which the package passes on whole.
        flat = [inner for e in error.errors for inner in (e.get("errors", [e]) if isinstance(e, dict) else [e])]
        return [e.get("message", "") if isinstance(e, dict) else str(e) for e in flat]
    return [str(error)]


async def collect(session, document, limit=None):
    values, errors, ending = [], [], "completed"
    stream = session.subscribe(gql(document))
    try:
        async for result in stream:
            values.append(result)
            if limit and len(values) == limit:
                ending = "left"
                break
    except TransportError as error:
        errors, ending = told(error), "failed"
    await stream.aclose()
    return {"values": values, "errors": errors, "ending": ending}


async def run():
    if SCENARIO == "reconnect":
        seen = []
        for limit in (None, 1):
            for _ in range(500):
                try:
                    async with Client(transport=transport()) as session:
                        answer = await collect(session, "subscription { onCreateNote { text } }", limit)
                    if answer["values"]:
                        break
                except (TransportError, OSError):
                    pass
                await asyncio.sleep(0.05)
            seen += answer["values"]
        return {"values": seen}
    async with Client(transport=transport()) as session:
        if SCENARIO == "values":
            return await collect(session, "subscription { tick(upTo: 3) }")
        if SCENARIO == "failing":
            return await collect(session, "subscription { tick(upTo: 3, failAt: 2) }")
        if SCENARIO == "refused":
            return await collect(session, "subscription { nothing }")
        if SCENARIO == "live":
            return await collect(session, "subscription { onCreateNote { text } }", limit=1)
        if SCENARIO == "cancelled":
            return await collect(session, "subscription { forever }", limit=2)
        query = gql("query Get($id: ID!) { getNote(id: $id) { text } }")
        query.variable_values = {"id": "missing"}
        found = await session.execute(query)
        made = await session.execute(gql('mutation { createNote(input: {text: "made"}) { text } }'))
        try:
            await session.execute(gql("{ fails }"))
            errors = []
        except TransportQueryError as error:
            errors = told(error)
        return {"values": [found, made], "errors": errors, "ending": "completed"}


print(json.dumps(asyncio.run(asyncio.wait_for(run(), 60))))
