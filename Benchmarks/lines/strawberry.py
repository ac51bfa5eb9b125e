"""1,000 members, bursts of 8, against strawberry-graphql on uvicorn: processor time per delivered event.

The peer writes to no database: its figure is the delivery alone, as the server's is.
"""

import json
import os
import sys
import time
import urllib.request

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import fanout
import harness as h

MEMBERS = 1000


def subscribers_of(port):
    with urllib.request.urlopen("http://127.0.0.1:%d/subscribers" % port, timeout=5) as answer:
        return int(answer.read())


def measure_peer(burst, rounds=5):
    port = h.free_port()
    server = h.Process([h.python(), os.path.join(h.ROOT, "Benchmarks", "Peers", "strawberry_server.py"), str(port)])
    try:
        for _ in range(100):
            try:
                subscribers_of(port)
                break
            except OSError:
                time.sleep(0.1)
        load = h.subscribers(port, MEMBERS, rounds * burst, options=["--path", "/"])
        while subscribers_of(port) < MEMBERS:
            time.sleep(0.1)
        h.settle()
        before = h.cpu_seconds(server.pid)[0]
        words = "rounds=%d&burst=%d&interval=%d" % (rounds, burst, 300_000 * burst)
        urllib.request.urlopen("http://127.0.0.1:%d/go?%s" % (port, words)).read()
        account = h.finish(load, "strawberry")
        h.settle()
        return (h.cpu_seconds(server.pid)[0] - before) / (MEMBERS * rounds * burst) * 1e6, account["share"]
    finally:
        server.stop()


def main():
    h.tools()
    print("Fan-out to 1,000 members against strawberry-graphql on uvicorn (%s)" % h.machine())
    for burst, bar in ((8, 40), (1, None)):
        ours, peers, shares = [], [], []
        for _ in range(h.rounds()):
            run = fanout.measure_server(MEMBERS, burst)
            ours.append(run["each"])
            peer, share = measure_peer(burst)
            peers.append(peer)
            shares += run["shares"] + [share]
        ratio = [p / o for o, p in zip(ours, peers)]
        print("  bursts of %d: server %s, strawberry %s: %s times less%s; %s" % (
            burst, h.summary(ours, " us"), h.summary(peers, " us"), h.summary(ratio),
            "; bar %d: %s" % (bar, h.verdict(h.median(ratio) >= bar)) if bar else "", h.generator(shares)))


if __name__ == "__main__":
    main()
