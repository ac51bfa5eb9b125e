"""Access: the cost of owner rules for a delivered event, of connecting with a token, and of one noisy identity.

    Benchmarks/lines/owners.py [MEMBERS]

CONNECTIONS (8000) and ROUNDS (3) change the sizes of the others; PARTS ("rules tokens noise") chooses among them.

Rules: MEMBERS subscribers (10,000), each with a token of its own, each seeing only its own records; against the same events to the
same subscribers by a filter and without rules. CPU of the server for a delivered event, less that of the same writes without
subscribers. Every event has to arrive at its subscriber, in order, and at no other, or there is no figure.
Tokens: connect, verify an ES256 or RS256 token that was never seen, and subscribe; by the server's processor time.
Noise: p99 of one caller's queries beside another identity that asks 2,000 times a second over HTTP, over WebSockets, and 20,000 times
a second over WebSockets, with and without callers.operationsPerSecondPerIdentity.
"""

import http.client
import json
import os
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness as h

MEMBERS = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
CONNECTIONS = int(os.environ.get("CONNECTIONS", "8000"))
# Events of each member; one transaction writes for GROUP members.
EVENTS, GROUP = 5, 50
RULES = ('@auth(rules: [{ allow: owner, operations: [read] }, { allow: groups, groups: ["writer"] }])', "")
SCHEMA = """type Reading @model %s {
  id: ID!
  topic: String! @index
  number: Int!
  text: String!
  sent: String!
  owner: String
}
"""
BODY = h.TRANSACTION.replace('"topic":"t@K@",', '"topic":"t@K@","owner":"u@K@",')


def mint(algorithm, count, folder, *group):
    """Tokens in a file, and an access file that accepts them beside those of `others`."""
    lines = subprocess.run([h.tool("mint"), algorithm, str(count)] + list(group), capture_output=True, text=True, check=True)
    key, *tokens = lines.stdout.splitlines()
    path = os.path.join(folder, "tokens-%s-%s" % (algorithm, "-".join(group) or "all"))
    with open(path, "w") as file:
        file.write("\n".join(tokens) + "\n")
    return json.loads(key), path, tokens


def access(folder, keys):
    path = os.path.join(folder, "access.json")
    issuers = [{"issuer": "https://bench.example", "audience": "bench", "keys": key} for key in keys]
    with open(path, "w") as file:
        json.dump({"tokens": issuers}, file)
    return path


def schema(folder, rules):
    path = os.path.join(folder, "schema.graphql")
    with open(path, "w") as file:
        file.write(SCHEMA % rules)
    return path


def delivered(folder, rules, key, tokens, writer_key, writer):
    """CPU per delivered event, in microseconds."""
    server = h.Server(schema=schema(folder, rules), access=access(folder, [key, writer_key]), options=["--loops", "1"])
    header = ["--header", "Authorization: Bearer " + writer]
    requests = MEMBERS * EVENTS // GROUP
    pace = ["--interval", max(10_000, GROUP * 30), "--writes", GROUP, "--keys", MEMBERS]
    try:
        h.write(server.port, requests // 4, BODY, clients=4, options=pace + header)
        h.settle()
        before = h.cpu_seconds(server.pid)[0]
        h.write(server.port, requests, BODY, clients=4, options=pace + header)
        h.settle()
        bare = h.cpu_seconds(server.pid)[0] - before
        query, options = (h.EVERYTHING, []) if rules else (h.FILTERED, h.KEYED)
        load = h.subscribers(server.port, MEMBERS, EVENTS, query, options=options + [
            "--cursors", "--tokens", tokens, "--key-field", '"topic":"t'])
        h.settle()
        before = h.cpu_seconds(server.pid)[0]
        h.write(server.port, requests, BODY, clients=4, options=pace + header)
        account = h.finish(load, "owners")
        h.settle()
        return (h.cpu_seconds(server.pid)[0] - before - bare) / (MEMBERS * EVENTS) * 1e6, account["share"]
    finally:
        server.stop()


def connected(folder, algorithm):
    """Connections with a token of their own and one subscription, for each second of the server's processor time."""
    count = CONNECTIONS
    key, tokens, _ = mint(algorithm, count, folder)
    server = h.Server(schema=schema(folder, RULES[0]), access=access(folder, [key]), options=["--loops", "1"])
    try:
        before = h.cpu_seconds(server.pid)[0]
        load = h.subscribers(server.port, count, 0, h.EVERYTHING, options=["--cursors", "--tokens", tokens])
        spent = h.cpu_seconds(server.pid)[0] - before
        load.stop()
        return count / spent
    finally:
        server.stop()


class Caller(threading.Thread):
    """Asks one query after the other, and keeps how long each took."""

    def __init__(self, port, token):
        super().__init__()
        self.port, self.token, self.taken, self.failure, self.over = port, token, [], None, threading.Event()

    def run(self):
        try:
            connection = http.client.HTTPConnection("127.0.0.1", self.port)
            while not self.over.is_set():
                begun = time.perf_counter()
                connection.request("POST", "/graphql", json.dumps({"query": "{ __typename }"}), {
                    "Content-Type": "application/json", "Authorization": "Bearer " + self.token})
                answer = connection.getresponse()
                if answer.status != 200:
                    raise RuntimeError("%d %r" % (answer.status, answer.read()[:200]))
                answer.read()
                self.taken.append((time.perf_counter() - begun) * 1e3)
                time.sleep(0.005)
        except Exception as failure:
            self.failure = failure

    def p99(self, seconds):
        self.start()
        time.sleep(seconds)
        self.over.set()
        self.join()
        if self.failure:
            raise self.failure
        return sorted(self.taken)[len(self.taken) * 99 // 100]


NOISE = "{ listReadings(limit: 100) { items { id } } }"


def http_noise(port, token):
    # 2,000 requests a second of the other identity: those beyond its limit are refused, which is cheap.
    return subprocess.Popen([h.tool("httpload"), "--port", str(port), "--clients", "16", "--requests", "12000",
                             "--interval", "8000", "--burst", "16", "--body", json.dumps({"query": NOISE}), "--header",
                             "Authorization: Bearer " + token, "--refusal", "RATE_LIMITED"],
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def socket_noise(rate):
    def start(port, token):
        script = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "Tools", "wsnoise.py")
        return subprocess.Popen([sys.executable, script, str(port), token, "8", str(rate), "16", NOISE],
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return start


def noise(folder, limited, start):
    """p99 of a caller beside a noisy identity, against the same caller alone."""
    key, _, tokens = mint("ES256", 2, folder)
    options = ["--loops", "1"] + (
        ["--limit", "callers.operationsPerSecondPerIdentity=300", "--limit", "callers.burst=1s"] if limited else [])
    server = h.Server(schema=schema(folder, RULES[0]), access=access(folder, [key]), options=options)
    try:
        alone = Caller(server.port, tokens[0]).p99(3)
        noisy = start(server.port, tokens[1])
        # What it may use at once is used up before anything is measured.
        time.sleep(1)
        beside = Caller(server.port, tokens[0]).p99(3)
        if noisy.poll() is not None:
            raise RuntimeError("the noisy identity stopped before the measurement ended")
        noisy.kill()
        noisy.wait()
        return beside / alone, beside
    finally:
        server.stop()


def rules(folder):
    key, tokens, _ = mint("ES256", MEMBERS, folder)
    writer_key, _, writers = mint("ES256", 1, folder, "writer")
    ruled, plain, shares = [], [], []
    for _ in range(h.rounds(3)):
        for directive, figures in ((RULES[0], ruled), (RULES[1], plain)):
            each, share = delivered(folder, directive, key, tokens, writer_key, writers[0])
            figures.append(each)
            shares.append(share)
    ratio = [a / b for a, b in zip(ruled, plain)]
    print("  owner rules, %d members: server %s a delivered event, by a filter and without rules %s; ratio %s; bar 1.2: %s" % (
        MEMBERS, h.summary(ruled, " us"), h.summary(plain, " us"), h.summary(ratio), h.verdict(h.median(ratio) <= 1.2)))
    print("    every one of %d events arrived at its owner and at no other; %s" % (MEMBERS * EVENTS, h.generator(shares)))


def tokens(folder):
    for algorithm in ("ES256", "RS256"):
        rates = [connected(folder, algorithm) for _ in range(h.rounds(3))]
        print("  connect, %s token, subscribe: %s a second and core; bar 4000: %s" % (
            algorithm, h.summary(rates), h.verdict(h.median(rates) >= 4_000)))


def noisy(folder):
    for name, start in (("HTTP, 2,000 a second", http_noise), ("sockets, 2,000 a second", socket_noise(2_000)),
                        ("sockets, 20,000 a second", socket_noise(20_000))):
        for limited in (False, True):
            runs = [noise(folder, limited, start) for _ in range(h.rounds(3))]
            ratios = [run[0] for run in runs]
            print("  one noisy identity by %s%s: p99 of another %s times that alone%s" % (
                name, ", limited" if limited else "", h.summary(ratios),
                "; bar 1.5: " + h.verdict(h.median(ratios) <= 1.5) if limited else ""))


PARTS = {"rules": rules, "tokens": tokens, "noise": noisy}


def main():
    h.tools()
    asked = os.environ.get("PARTS", " ".join(PARTS)).split()
    with tempfile.TemporaryDirectory() as folder:
        print("Access (%s)" % h.machine())
        for part in asked:
            PARTS[part](folder)


if __name__ == "__main__":
    main()
