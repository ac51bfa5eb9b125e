"""Open loop, 1,000 durable writes a second, one filtered subscriber for each of 1,000 keys: from when a write was due
until its event has been read by its subscriber. Late writes count from when they were due."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness as h

KEYS, RATE, SECONDS = 1000, 1000, 10


def measure():
    server = h.Server()
    try:
        load = h.subscribers(server.port, KEYS, SECONDS * RATE // KEYS, h.FILTERED, h.KEYED + [
            "--cursors", "--latency", "--key-field", '"topic":"t'])
        before = h.cpu_seconds(server.pid)[0]
        written = h.write(server.port, SECONDS * RATE, h.SINGLE, 64, ["--interval", 1_000_000 // RATE, "--keys", KEYS])
        account = h.finish(load, "latency")
        account["server"] = (h.cpu_seconds(server.pid)[0] - before) / SECONDS
        account["share"] = max(account["share"], written["share"])
        account["late"] = written["late"]
        return account
    finally:
        server.stop()


def main():
    h.tools()
    runs = [measure() for _ in range(h.rounds())]
    p50, p99 = [r["p50_ms"] for r in runs], [r["p99_ms"] for r in runs]
    print("Latency, open loop, %d durable writes a second, %d filtered subscribers (%s)" % (RATE, KEYS, h.machine()))
    print("  p50 %s; bar 1 ms: %s;  p99 %s; bar 10 ms: %s;  p99.9 %s" % (
        h.summary(p50, " ms"), h.verdict(h.median(p50) <= 1), h.summary(p99, " ms"), h.verdict(h.median(p99) <= 10),
        h.summary([r["p999_ms"] for r in runs], " ms")))
    print("  all %d events arrived in order in each run; server %s of a core; %s; writes held back %d" % (
        runs[0]["events"], h.summary([r["server"] for r in runs]), h.generator([r["share"] for r in runs]),
        max(r["late"] for r in runs)))


if __name__ == "__main__":
    main()
