"""10,000 live subscriptions, each filtered to a key of its own and getting one change a second.

Beside the anchor Hasura published for 10,000 live queries that change once a second: 2 processors at 73 %.
"""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness as h

KEYS, SECONDS, BATCH = 10_000, 10, 100


def measure():
    server = h.Server()
    try:
        load = h.subscribers(server.port, KEYS, SECONDS, h.FILTERED, h.KEYED + [
            "--cursors", "--latency", "--key-field", '"topic":"t'])
        before = h.cpu_seconds(server.pid)[0]
        written = h.write(server.port, KEYS * SECONDS // BATCH, h.TRANSACTION, 16, [
            "--interval", 1_000_000 * BATCH // KEYS, "--keys", KEYS, "--writes", BATCH])
        account = h.finish(load, "anchor")
        account["server"] = (h.cpu_seconds(server.pid)[0] - before) / SECONDS
        account["share"] = max(account["share"], written["share"])
        return account
    finally:
        server.stop()


def main():
    h.tools()
    runs = [measure() for _ in range(h.rounds(3))]
    used = [r["server"] * 100 for r in runs]
    print("10,000 live subscriptions with one change a second each (%s)" % h.machine())
    print("  server %s of one core, durable writes included; published anchor: 2 CPUs at 73 %% = 146 %%, ratio %s" % (
        h.summary(used, " %"), h.summary([u / 146 for u in used])))
    print("  write to event p50 %s, p99 %s; all %d events arrived in order; %s" % (
        h.summary([r["p50_ms"] for r in runs], " ms"), h.summary([r["p99_ms"] for r in runs], " ms"),
        runs[0]["events"], h.generator([r["share"] for r in runs])))


if __name__ == "__main__":
    main()
