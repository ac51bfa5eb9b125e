"""Other requests beside a fan-out: p99 of point queries on the same loop while one large group receives events.

    Benchmarks/lines/fairness.py [MEMBERS] [SECONDS]

The server has one loop fewer than cores: one on two cores. One connection asks for a record again and again, first alone, then beside the fan-out, which is
paced at about half of what the loop can send.
"""

import http.client
import json
import os
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness as h

MEMBERS = int(sys.argv[1]) if len(sys.argv) > 1 else 8_000
SECONDS = int(sys.argv[2]) if len(sys.argv) > 2 else 10
BAR_MS = 5.0
QUERY = json.dumps({"query": "{ __typename }"})


class Prober(threading.Thread):
    """Asks one request after the other on one connection, and keeps how long each took."""

    def __init__(self, port):
        super().__init__()
        self.port = port
        self.taken = []
        self.failure = None
        self.over = threading.Event()

    def run(self):
        try:
            connection = http.client.HTTPConnection("127.0.0.1", self.port)
            while not self.over.is_set():
                begun = time.perf_counter()
                connection.request("POST", "/graphql", QUERY, {"Content-Type": "application/json"})
                answer = connection.getresponse()
                body = answer.read()
                self.taken.append((time.perf_counter() - begun) * 1e3)
                if answer.status != 200 or b"errors" in body:
                    raise RuntimeError("%d %r" % (answer.status, body[:200]))
                time.sleep(0.002)
        except Exception as failure:
            self.failure = failure

    def p99(self):
        self.over.set()
        self.join()
        if self.failure:
            raise self.failure
        taken = sorted(self.taken)
        return taken[len(taken) * 99 // 100]


def measure():
    server = h.Server()
    try:
        alone = Prober(server.port)
        alone.start()
        time.sleep(min(SECONDS, 3))
        alone = alone.p99()
        pace = max(10_000, MEMBERS * 20)
        count = max(2, SECONDS * 1_000_000 // pace)
        load = h.subscribers(server.port, MEMBERS, count, options=["--cursors"])
        h.settle()
        before = server.metrics()
        cpu = h.cpu_seconds(server.pid)[0]
        beside = Prober(server.port)
        beside.start()
        h.write(server.port, count, options=["--interval", pace])
        account = h.finish(load, "fairness")
        beside = beside.p99()
        cpu = h.cpu_seconds(server.pid)[0] - cpu
        after = server.metrics()
        sends = after["socket_sends_total"] - before["socket_sends_total"]
        return {"alone": alone, "beside": beside, "each": cpu / (MEMBERS * count) * 1e6, "sends": sends / MEMBERS / count,
                "share": account["share"]}
    finally:
        server.stop()


def main():
    h.tools()
    runs = [measure() for _ in range(h.rounds(3))]
    beside = [run["beside"] for run in runs]
    print("Point queries beside a fan-out to %d members (%s)" % (MEMBERS, h.machine()))
    print("  p99 %s, alone %s; bar %.0f ms: %s" % (
        h.summary(beside, " ms"), h.summary([run["alone"] for run in runs], " ms"), BAR_MS,
        h.verdict(h.median(beside) <= BAR_MS)))
    print("  server %s per delivered event with the queries, sends %s a member and event; %s" % (
        h.summary([run["each"] for run in runs], " us"), h.summary([run["sends"] for run in runs]),
        h.generator([run["share"] for run in runs])))


if __name__ == "__main__":
    main()
