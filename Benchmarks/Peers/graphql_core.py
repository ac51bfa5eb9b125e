"""The peer of the GraphQL figure: graphql-core on the same schema, query and data, in processor time.

    python graphql_core.py FOLDER OPERATIONS
"""

import json
import sys
import time

from graphql import build_schema, execute, parse, validate

folder, count = sys.argv[1], int(sys.argv[2])
schema = build_schema(open(folder + "/schema.graphql").read())
query = open(folder + "/query.graphql").read()
data = json.load(open(folder + "/data.json"))
variables = {"id": "f1"}
schema.query_type.fields["flight"].resolve = lambda *_, **__: data["flight"]


def whole():
    document = parse(query)
    assert not validate(schema, document)
    result = execute(schema, document, variable_values=variables)
    assert not result.errors
    return json.dumps(result.formatted)


def each(body):
    for _ in range(count // 10 + 1):
        body()
    start = time.process_time()
    for _ in range(count):
        body()
    return (time.process_time() - start) / count * 1e6


document = parse(query)
assert json.loads(whole())["data"]["flight"] == data["flight"]
print(json.dumps({
    "uncached_us": each(whole), "parse_us": each(lambda: parse(query)),
    "validate_us": each(lambda: validate(schema, document)),
    "execute_us": each(lambda: execute(schema, document, variable_values=variables))}))
