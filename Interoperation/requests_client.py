"""Foreign HTTP clients against a server of this package: what goes beyond one operation in one request.

  requests_client.py FEATURE URL      prints what was answered as one line of JSON

  list      gql sends two operations in one request
  upload    gql sends a file, by the GraphQL multipart request specification
  parts     aiohttp reads the parts of a response with @defer; each is printed
"""

import asyncio
import json
import pathlib
import sys
import tempfile

import aiohttp

from clients import gql

FEATURE, URL = sys.argv[1:]


async def parts():
    body = {"query": "{ slow { fast ... @defer(label: \"rest\") { late } } }"}
    async with aiohttp.ClientSession() as session:
        async with session.post(URL, json=body, headers={"Accept": "multipart/mixed"}) as response:
            reader = aiohttp.MultipartReader.from_response(response)
            found = []
            while (part := await reader.next()) is not None:
                found.append(await part.json())
            return found


async def main():
    if FEATURE == "list":
        return await gql.batch(URL, [("{ hello }", None), ("query H($n: String!) { hello(name: $n) }", {"n": "you"})])
    if FEATURE == "upload":
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "cat.png"
            path.write_text("pixels")
            return await gql.upload(URL, "mutation K($file: Upload!) { keep(file: $file) }", str(path))
    return await parts()


print(json.dumps(asyncio.run(asyncio.wait_for(main(), 60))))
