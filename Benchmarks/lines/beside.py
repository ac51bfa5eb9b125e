"""A read by key, a write and a resume beside each load that could delay them: a fan-out to 8,000 members, transactions of
10,000 creates, scans that no index serves.

    Benchmarks/lines/beside.py [fanout|transaction|scans ...]

SAMPLES (500), PACE (0.01, seconds between two samples), RECORDS (50000), MEMBERS (8000), CREATES (10000) and PAUSE (1, seconds
between two transactions) change the sizes. The store makes such a transaction in slices, so that neither reads nor writes wait for all of it.
"""

import json
import os
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import harness as h
import reads

MEMBERS = int(os.environ.get("MEMBERS", "8000"))
CREATES = int(os.environ.get("CREATES", "10000"))
PAUSE = float(os.environ.get("PAUSE", "1"))
TOGETHER = "mutation($writes: [ModelWriteInput!]!) { transaction(writes: $writes) { __typename } }"
LOADS = ("fanout", "transaction", "scans")


class Load:
    """Something that runs beside what is measured, until it is stopped."""

    def __init__(self, bodies):
        self.over = threading.Event()
        self.count = 0
        self.failure = None
        self.threads = [threading.Thread(target=self.repeat, args=(body,)) for body in bodies]

    def repeat(self, body):
        try:
            while not self.over.is_set():
                body(self)
                self.count += 1
        except Exception as failure:
            self.failure = failure

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        h.settle(1)
        return self

    def __exit__(self, *_):
        self.over.set()
        for thread in self.threads:
            thread.join()
        if self.failure:
            raise self.failure


def body_of(count):
    """The request of one transaction of so many creates."""
    writes = [{"createReading": {"topic": "b", "number": n, "text": "b", "sent": "x"}} for n in range(count)]
    return json.dumps({"query": TOGETHER, "variables": {"writes": writes}}).encode()


def create(client, count, body=None):
    """One transaction of so many creates; returns its seconds.

    The answer is counted and not decoded, and a load makes its request once: both would hold the interpreter, and with it
    the reads and writes that are measured, for longer than the server takes.
    """
    body = body or body_of(count)
    begun = time.perf_counter()
    client.connection.request("POST", "/graphql", body, {"Content-Type": "application/json"})
    answer = client.connection.getresponse().read()
    seconds = time.perf_counter() - begun
    if b'"errors"' in answer:
        raise RuntimeError(answer[:300].decode())
    if answer.count(b'"__typename"') != count:
        raise RuntimeError("%d creates were answered of %d" % (answer.count(b'"__typename"'), count))
    return seconds


def growth(port):
    """Seconds of one transaction, over those of ten of a tenth each: about one when its cost is linear."""
    client = reads.Client(port)
    create(client, CREATES // 10)
    tenths = sum(create(client, CREATES // 10) for _ in range(10))
    return create(client, CREATES) / tenths


def transactions(port):
    client = reads.Client(port)
    request = body_of(CREATES)

    def body(load):
        create(client, CREATES, request)
        load.over.wait(PAUSE)
    return Load([body])


def scans(port):
    def scanner():
        client = reads.Client(port)
        return lambda load: client.ask(reads.SCAN)
    return Load([scanner() for _ in range(reads.SCANS)])


def fanout(port):
    """Writes one after the other, at half of what a loop can send, of the topic that the members follow."""
    client = reads.Client(port)
    pace = MEMBERS * 20e-6

    def body(load):
        client.ask('mutation { createReading(input: {topic: "f", number: 1, text: "f", sent: "x"}) { id } }')
        load.over.wait(pace)
    return Load([body])


def measure(name):
    # A batch of the load does not fit the usual body.
    server = h.Server(options=["--limit", "http.bodyBytes=16777216"])
    members = None
    try:
        reads.seed(server.port)
        alone = reads.three(server.port)
        if name == "transaction":
            alone["growth"] = growth(server.port)
        if name == "fanout":
            members = h.subscribers(server.port, MEMBERS, 0, query=h.FILTERED, options=["--unchecked", "--variables", '{"topic":"f"}'])
            h.settle()
        load = {"fanout": fanout, "transaction": transactions, "scans": scans}[name](server.port)
        with load:
            beside = reads.three(server.port)
        return alone, beside, load.count
    finally:
        if members is not None:
            members.stop()
        server.stop()


def main():
    h.tools()
    for name in sys.argv[1:] or LOADS:
        runs = [measure(name) for _ in range(h.rounds(3))]
        print("A read by key, a write and a resume beside %s (%s)" % (
            {"fanout": "a fan-out to %d members" % MEMBERS, "transaction": "transactions of %d creates" % CREATES,
             "scans": "%d scans of %d records" % (reads.SCANS, reads.RECORDS)}[name], h.machine()))
        for kind in ("point", "write", "resume"):
            p99 = [r[1][kind][1] for r in runs]
            print("  %s p99 %s, %s alone; p50 %s; bar %d ms: %s" % (
                kind, h.summary(p99, " ms"), h.summary([r[0][kind][1] for r in runs], " ms"),
                h.summary([r[1][kind][0] for r in runs], " ms"), reads.BAR, h.verdict(h.median(p99) <= reads.BAR)))
        if name == "transaction":
            ratio = [r[0]["growth"] for r in runs]
            print("  one transaction takes %s times as long as ten of a tenth; bar 1.5: %s" % (
                h.summary(ratio), h.verdict(h.median(ratio) <= 1.5)))
        print("  of the load meanwhile: %s" % h.summary([r[2] for r in runs]))


if __name__ == "__main__":
    main()
