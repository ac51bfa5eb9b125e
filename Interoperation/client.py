"""Foreign clients against a server of this package.

  client.py PEER DIALECT URL SCENARIO…    prints what happened, by scenario, as one line of JSON

Each peer is a file of `clients` with a function `subscribe`, and perhaps `ask`. What a scenario does:

  values      subscribes to `tick(upTo: 3)`
  failing     subscribes to a source that fails at 2
  refused     subscribes to a field that does not exist
  cancelled   leaves after two values of a source without end, and hangs up only when the server's source has stopped
  requests    a query with a variable, one that fails, and a mutation
  denied      subscribes with a key that the server does not know
  allowed     subscribes with one that it knows
  reconnect   subscribes until the connection is lost, subscribes again, leaves after one note
"""

import asyncio
import contextlib
import importlib
import json
import sys
import urllib.request

PEER, DIALECT, URL, *SCENARIOS = sys.argv[1:]
peer = importlib.import_module("clients." + PEER)
TELLS_COMPLETION = getattr(peer, "TELLS_COMPLETION", True)

DOCUMENTS = {
    "values": "subscription { tick(upTo: 3) }",
    "failing": "subscription { tick(upTo: 3, failAt: 2) }",
    "refused": "subscription { nothing }",
    "cancelled": "subscription { forever }",
    "denied": "subscription { tick(upTo: 1) }",
    "allowed": "subscription { tick(upTo: 1) }",
    "reconnect": "subscription { onCreateNote { text } }",
}
KEYS = {"denied": "nobody", "allowed": "interoperation"}


REQUESTS = [
    ("query Hello($name: String!) { hello(name: $name) }", {"name": "you"}),
    ("{ fails }", None),
    ('mutation { createNote(input: {text: "made"}) { text } }', None),
]


def running():
    body = json.dumps({"query": "{ running }"}).encode()
    request = urllib.request.Request(URL, body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=20) as answer:
        return json.load(answer)["data"]["running"]


async def settled():
    """Returns when the server's source has stopped: because it was ended, as the connection is still open."""
    for _ in range(400):
        if await asyncio.to_thread(running) == 0:
            return
        await asyncio.sleep(0.05)
    raise AssertionError("the server's source was not ended")


async def at_once():
    pass


async def once(scenario, limit=None):
    """Values, messages of errors, and how it ended: completed, failed, or left by us."""
    told = {"values": [], "errors": [], "ending": "completed"}
    try:
        leaving = settled if scenario == "cancelled" else at_once
        stream = peer.subscribe(DIALECT, URL, DOCUMENTS[scenario], KEYS.get(scenario), leaving)
        async with contextlib.aclosing(stream):
            async for value in stream:
                # By HTTP an error can also stand in a result.
                told["errors"] += [error["message"] for error in value.get("errors") or []]
                data = value.get("data")
                if data and any(field is not None for field in data.values()):
                    told["values"].append(data)
                if told["errors"] and not TELLS_COMPLETION:
                    break
                if limit and len(told["values"]) == limit:
                    told["ending"] = "left"
                    break
    except peer.ERRORS as error:
        told["errors"] += peer.told(error)
    if told["errors"]:
        told["ending"] = "failed"
    return told


async def run(scenario):
    if scenario == "cancelled":
        return await once(scenario, 2)
    if scenario == "values" and not TELLS_COMPLETION:
        return await once(scenario, 3)
    if scenario == "requests":
        answers = await peer.ask(DIALECT, URL, REQUESTS)
        return {"values": [value for value in answers if not isinstance(value, Exception)],
                "errors": [text for value in answers if isinstance(value, Exception) for text in peer.told(value)],
                "ending": "completed"}
    if scenario != "reconnect":
        return await once(scenario)
    seen = []
    for limit in (None, 1):
        for _ in range(500):
            answer = await once(scenario, limit)
            if answer["values"]:
                break
            await asyncio.sleep(0.05)
        seen += answer["values"]
    return {"values": seen, "errors": [], "ending": "left"}


async def main():
    return {scenario: await asyncio.wait_for(run(scenario), 60) for scenario in SCENARIOS}


print(json.dumps(asyncio.run(main())), flush=True)
# Threads of peers that have none of their own loop may still wait for a socket.
sys.stdout.close()
import os  # noqa: E402

os._exit(0)
