"""Access: the cost of owner rules for a delivered event, of connecting with a token, and of one noisy identity.

    python3 Benchmarks/lines/owners.py [MEMBERS]

CONNECTIONS (8000) and ROUNDS (3) change the sizes of the others; PARTS ("rules tokens noise") chooses among them.

Rules: MEMBERS subscribers (10,000), each with a token of its own, each seeing only its own records; against the same events to the
same subscribers by a filter and without rules. Four servers run beside each other: with and without rules, each with and without
subscribers. They take turns with slices of one event for each member, so that what else the machine does meets all of them. CPU of
the server for a delivered event is that with subscribers less that without; the ratio is the median over the slices. Every event has
to arrive at its subscriber, in order, and at no other, and the servers' counters have to agree, or there is no figure.
Tokens: connect, verify an ES256 or RS256 token that was never seen, and subscribe; by the server's processor time.
Noise: p99 of one caller's queries beside another identity that asks 2,000 times a second over HTTP, over WebSockets, and 20,000 times
a second over WebSockets, with and without callers.operationsPerSecondPerIdentity. Each server is asked three times alone, three times
beside the noise, and three times beside the same noise at another server, in turns: what the last one costs is the machine's that all of them
share. The programs that make the noise have the lowest priority, because they stand for other machines.
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
# Slices of a round, each of one event for each member; one transaction writes for GROUP members.
EVENTS, GROUP = 5, 50
DELIVERIES = "feed_deliveries_total"
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


class Side:
    """A server with or without rules, and with or without the subscribers."""

    def __init__(self, folder, rules, keys, tokens, writer, events):
        self.server = h.Server(schema=schema(folder, rules), access=access(folder, keys), options=["--loops", "1"])
        self.writer, self.load, self.before = writer, None, None
        if events:
            query, options = (h.EVERYTHING, []) if rules else (h.FILTERED, h.KEYED)
            self.load = h.subscribers(self.server.port, MEMBERS, events, query, timeout=60 + 20 * events, options=options + [
                "--cursors", "--tokens", tokens, "--key-field", '"topic":"t'])

    def counters(self):
        return self.server.metrics(token=self.writer)

    def write(self, first):
        """Server CPU of one event for each member, in seconds, until it does nothing more."""
        before = h.cpu_seconds(self.server.pid)[0]
        h.write(self.server.port, MEMBERS // GROUP, BODY, clients=4, options=[
            "--interval", max(10_000, GROUP * 30), "--writes", GROUP, "--keys", MEMBERS, "--first", first,
            "--header", "Authorization: Bearer " + self.writer])
        last = -1.0
        while (now := h.cpu_seconds(self.server.pid)[0]) - last > 0.002:
            last = now
            h.settle(0.1)
        return now - before


def sliced(folder, key, tokens, writer_key, writer):
    """Microseconds for a delivered event of each slice, with rules and without, and the generators' shares."""
    count = EVENTS * h.rounds(3)
    # The first slice fills the tables and is not measured.
    asked = {(rules, whole): count + 1 if whole else 0 for rules in RULES for whole in (True, False)}
    sides = {}
    try:
        for rules, whole in asked:
            sides[rules, whole] = Side(folder, rules, [key, writer_key], tokens, writer, asked[rules, whole])
        before = {side: sides[side].counters() for side in sides}
        figures = {rules: [] for rules in RULES}
        order = list(sides)
        for number in range(count + 1):
            order = order[1:] + order[:1]
            spent = {side: sides[side].write(number * MEMBERS) for side in order}
            for rules in RULES if number else ():
                figures[rules].append((spent[rules, True] - spent[rules, False]) / MEMBERS * 1e6)
        shares = [h.finish(sides[rules, True].load, "owners")["share"] for rules in RULES]
        for rules, whole in sides:
            after = sides[rules, whole].counters()
            made = after[DELIVERIES] - before[rules, whole][DELIVERIES]
            if made != MEMBERS * asked[rules, whole]:
                raise RuntimeError("%d deliveries where %d were expected" % (made, MEMBERS * asked[rules, whole]))
        return figures[RULES[0]], figures[RULES[1]], shares
    finally:
        for side in sides.values():
            if side.load:
                side.load.stop()
            side.server.stop()


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
    return subprocess.Popen(["nice", "-n", "19", h.tool("httpload"), "--port", str(port), "--clients", "16", "--requests", "12000",
                             "--interval", "8000", "--burst", "16", "--body", json.dumps({"query": NOISE}), "--header",
                             "Authorization: Bearer " + token, "--refusal", "RATE_LIMITED"],
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def socket_noise(rate):
    def start(port, token):
        script = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "Tools", "wsnoise.py")
        return subprocess.Popen(["nice", "-n", "19", sys.executable, script, str(port), token, "20", str(rate), "16", NOISE],
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return start


def noise(folder, limited, start):
    """p99 of a caller beside a noisy identity, and beside one at another server, against the same caller alone; once for each turn."""
    key, _, tokens = mint("ES256", 2, folder)
    options = ["--loops", "1"] + (
        ["--limit", "callers.operationsPerSecondPerIdentity=300", "--limit", "callers.burst=1s"] if limited else [])
    server, other = (h.Server(schema=schema(folder, RULES[0]), access=access(folder, [key]), options=options) for _ in range(2))
    ratios = []
    try:
        # What the first requests prepare is prepared.
        Caller(server.port, tokens[0]).p99(1)
        for _ in range(3):
            alone = Caller(server.port, tokens[0]).p99(3)
            taken = []
            for asked in (server, other):
                noisy = start(asked.port, tokens[1])
                try:
                    # What it may use at once is used up before anything is measured.
                    time.sleep(1)
                    taken.append(Caller(server.port, tokens[0]).p99(3) / alone)
                    if noisy.poll() is not None:
                        raise RuntimeError("the noisy identity stopped before the measurement ended")
                finally:
                    noisy.kill()
                    noisy.wait()
                h.settle()
            ratios.append(taken)
        return ratios
    finally:
        server.stop()
        other.stop()


def rules(folder):
    key, tokens, _ = mint("ES256", MEMBERS, folder)
    writer_key, _, writers = mint("ES256", 1, folder, "writer")
    ruled, plain, shares = sliced(folder, key, tokens, writer_key, writers[0])
    ratio = [a / b for a, b in zip(ruled, plain)]
    print("  owner rules, %d members: server %s a delivered event, by a filter and without rules %s; ratio %s; bar 1.2: %s" % (
        MEMBERS, h.summary(ruled, " us"), h.summary(plain, " us"), h.summary(ratio), h.verdict(h.median(ratio) <= 1.2)))
    print("    %d slices; each of %d events arrived at its owner and at no other; %s" % (
        len(ratio), MEMBERS * len(ratio), h.generator(shares)))


def tokens(folder):
    for algorithm in ("ES256", "RS256"):
        rates = [connected(folder, algorithm) for _ in range(h.rounds(3))]
        print("  connect, %s token, subscribe: %s a second and core; bar 4000: %s" % (
            algorithm, h.summary(rates), h.verdict(h.median(rates) >= 4_000)))


def noisy(folder):
    for name, start in (("HTTP, 2,000 a second", http_noise), ("sockets, 2,000 a second", socket_noise(2_000)),
                        ("sockets, 20,000 a second", socket_noise(20_000))):
        for limited in (False, True):
            ratios = [ratio for _ in range(h.rounds(3)) for ratio in noise(folder, limited, start)]
            here, elsewhere = ([ratio[place] for ratio in ratios] for place in (0, 1))
            print("  one noisy identity by %s%s: p99 of another %s times that alone%s; with the noise at another server %s" % (
                name, ", limited" if limited else "", h.summary(here),
                "; bar 1.5: " + h.verdict(h.median(here) <= 1.5) if limited else "", h.summary(elsewhere)))


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
