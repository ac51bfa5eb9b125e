"""Open loop at twice what the server can do: what it accepts is answered within the time its two queues allow (requests
in front of the event loop, writes in front of the store), the rest is refused by type, and nothing else happens."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness as h

CONNECTIONS, SECONDS, QUEUE, LAG = 10_000, 5, 8_192, 1_000


def measure():
    server = h.Server()
    try:
        h.write(server.port, 2000, h.SINGLE, 64)
        closed = h.write(server.port, 30_000, h.SINGLE, 64)
        capacity = 30_000 / closed["seconds"]
        offered = int(capacity * 2 / 100) * 100
        account = h.write(
            server.port, offered * SECONDS, h.SINGLE, CONNECTIONS,
            ["--interval", 10_000, "--burst", offered // 100, "--first", 32_000, "--refusal", "OVERLOADED"])
        account["offered"], account["capacity"] = offered, capacity
        account["bound"] = LAG + QUEUE / ((account["answered"] - account["refused"]) / account["seconds"]) * 1e3
        account["refusals"] = server.metrics()["writes_refused_total"]
        account["shed"] = server.metrics()["http_requests_shed_total"]
        # The same server still answers as before.
        after = h.write(server.port, 5000, h.SINGLE, 64, ["--first", 1_000_000])
        account["after"] = after["p99_ms"]
        return account
    finally:
        server.stop()


def main():
    h.tools()
    runs = [measure() for _ in range(h.rounds())]
    print("Overload, open loop at twice the capacity, %d connections (%s)" % (CONNECTIONS, h.machine()))
    print("  capacity %s a second, offered %s; answered well %s a second, refused as OVERLOADED %s of each run" % (
        h.summary([r["capacity"] for r in runs]), h.summary([r["offered"] for r in runs]),
        h.summary([(r["answered"] - r["refused"]) / r["seconds"] for r in runs]),
        h.summary([100 * r["refused"] / r["answered"] for r in runs], " %")))
    ok = all(r["p99_sent_ms"] <= 1.5 * r["bound"] for r in runs)
    print("  accepted, since the request left: p99 %s; %d ms of lag and a full queue of %d at that rate are %s; bar 1.5 times that: %s"
          % (h.summary([r["p99_sent_ms"] for r in runs], " ms"), LAG, QUEUE, h.summary([r["bound"] for r in runs], " ms"),
             h.verdict(ok)))
    # A connection carries one request at a time, so that those behind it leave late; the server cannot know of them.
    print("  since it was due: p50 %s, p99 %s" % (
        h.summary([r["p50_ms"] for r in runs], " ms"), h.summary([r["p99_ms"] for r in runs], " ms")))
    counted = all(r["refusals"] + r["shed"] == r["refused"] for r in runs)
    print("  every request was answered; the server counts %s writes refused and %s requests shed, as many as were seen: %s"
          % (h.summary([r["refusals"] for r in runs]), h.summary([r["shed"] for r in runs]), h.verdict(counted)))
    print("  p99 afterwards %s; %s" % (
        h.summary([r["after"] for r in runs], " ms"), h.generator([r["share"] for r in runs])))


if __name__ == "__main__":
    main()
