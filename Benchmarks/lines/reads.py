"""A read by key, a write and a resume while ten clients scan 50,000 records with a filter that no index serves."""

import http.client
import json
import os
import re
import socket
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness as h

RECORDS, BATCH, SCANS = int(os.environ.get("RECORDS", "50000")), 100, 10
SAMPLES = int(os.environ.get("SAMPLES", "500"))
# Seconds between two samples: 500 of them span several rounds of every load.
PACE = float(os.environ.get("PACE", "0.01"))
# What a resume follows: no load writes this topic, so that each resume catches up on exactly one event.
FOLLOWED = 'subscription { onCreateReading(filter: {topic: {eq: "r"}}) { id number } }'
SCAN = '{ listReadings(filter: {text: {contains: "nowhere"}}, limit: 100) { items { id } } }'
BAR = 10


class Client:
    """One connection that is kept."""

    def __init__(self, port):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)

    def ask(self, query):
        self.connection.request("POST", "/graphql", json.dumps({"query": query}), {"Content-Type": "application/json"})
        answer = json.load(self.connection.getresponse())
        if answer.get("errors"):
            raise RuntimeError(str(answer["errors"]))
        return answer["data"]


class Socket:
    """A WebSocket with cursors, just enough to resume."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.sendall(b"GET /graphql HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                            b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
                            b"Sec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n")
        self.stream = self.socket.makefile("rb")
        while self.stream.readline().strip():
            pass
        self.send({"type": "connection_init", "payload": {"martlet": {"cursors": True}}})
        self.receive("connection_ack")
        self.count = 0

    def send(self, message):
        text = json.dumps(message).encode()
        head = bytes([0x81, 0x80 | len(text)]) if len(text) < 126 else bytes([0x81, 0xFE]) + len(text).to_bytes(2, "big")
        self.socket.sendall(head + bytes(4) + text)

    def receive(self, *kinds):
        """The next message of one of these types."""
        while True:
            length = self.stream.read(2)[1] & 127
            if length == 126:
                length = int.from_bytes(self.stream.read(2), "big")
            elif length == 127:
                length = int.from_bytes(self.stream.read(8), "big")
            message = json.loads(self.stream.read(length))
            if message["type"] in kinds:
                return message

    def subscribe(self, resume=None):
        """Subscribes and waits until it is live and, resuming, until the one event since has come; ends it and returns
        the last cursor."""
        self.count += 1
        name = "c%d" % self.count
        payload = {"query": FOLLOWED}
        if resume:
            payload["extensions"] = {"martlet": {"resume": resume}}
        self.send({"id": name, "type": "subscribe", "payload": payload})
        cursor, awaited = None, {"ready", "next"} if resume else {"ready"}
        while awaited:
            message = self.receive("ready", "next")
            if message["type"] not in awaited:
                raise RuntimeError("one event was missed, and more came: %s" % message)
            awaited.remove(message["type"])
            if message["type"] == "next":
                cursor = cursor_of(message)
            else:
                cursor = cursor or cursor_of(message)
        self.send({"id": name, "type": "complete"})
        return cursor


def cursor_of(message):
    found = re.search(r'"cursor": "([^"]+)"', json.dumps(message))
    if not found:
        raise RuntimeError("no cursor in %s" % message)
    return found.group(1)


def seed(port):
    client = Client(port)
    for start in range(0, RECORDS, BATCH):
        writes = ", ".join('{createReading: {id: "r%d", topic: "t%d", number: %d, text: "some text%s", sent: "x"}}' % (
            n, n % 100, n, h.PAD) for n in range(start, start + BATCH))
        client.ask("mutation { transaction(writes: [%s]) { __typename } }" % writes)


def times(action, prepare=lambda number: None):
    """Median and p99 in milliseconds; what prepares a sample is not counted."""
    spent = []
    for number in range(SAMPLES):
        prepare(number)
        begun = time.perf_counter()
        action(number)
        spent.append((time.perf_counter() - begun) * 1_000)
        time.sleep(PACE)
    spent.sort()
    return spent[len(spent) // 2], spent[len(spent) * 99 // 100]


def three(port):
    """Times of resumes, point reads and writes, each by a client of its own that is never idle for long."""
    client, socket_ = Client(port), Socket(port)
    cursor = [socket_.subscribe()]

    def one_more(number):
        client.ask('mutation { createReading(input: {topic: "r", number: %d, text: "r", sent: "x"}) { id } }' % number)

    def resume(_):
        cursor[0] = socket_.subscribe(cursor[0])

    answer = {"resume": times(resume, one_more)}
    client = Client(port)
    answer["point"] = times(lambda n: client.ask('{ getReading(id: "r%d") { id } }' % (n * 37 % RECORDS)))
    answer["write"] = times(lambda n: client.ask(
        'mutation { createReading(input: {topic: "t", number: %d, text: "w", sent: "x"}) { id } }' % n))
    return answer


def measure():
    server = h.Server()
    stopping = threading.Event()
    scans = [0]
    try:
        seed(server.port)
        def scan():
            scanner = Client(server.port)
            while not stopping.is_set():
                scanner.ask(SCAN)
                scans[0] += 1

        alone = three(server.port)
        threads = [threading.Thread(target=scan) for _ in range(SCANS)]
        for thread in threads:
            thread.start()
        h.settle(1)
        beside = three(server.port)
        stopping.set()
        for thread in threads:
            thread.join()
        return alone, beside, scans[0]
    finally:
        stopping.set()
        server.stop()


def main():
    h.tools()
    runs = [measure() for _ in range(h.rounds(3))]
    print("A read by key, a write and a resume beside %d scans of %d records (%s)" % (SCANS, RECORDS, h.machine()))
    for name in ("point", "write", "resume"):
        p99 = [r[1][name][1] for r in runs]
        print("  %s p99 %s beside scans, %s alone; p50 %s; bar %d ms: %s" % (
            name, h.summary(p99, " ms"), h.summary([r[0][name][1] for r in runs], " ms"),
            h.summary([r[1][name][0] for r in runs], " ms"), BAR, h.verdict(h.median(p99) <= BAR)))
    print("  scans served meanwhile: %s" % h.summary([r[2] for r in runs]))


if __name__ == "__main__":
    main()
