"""Durable single-record mutations over HTTP keep-alive, 64 clients, against the store alone and the C loop."""

import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness as h

CLIENTS, WRITES = 64, 40_000


def measure():
    server = h.Server()
    try:
        h.write(server.port, 2000, h.SINGLE, CLIENTS)
        counters, before = server.metrics(), h.cpu_seconds(server.pid)
        account = h.write(server.port, WRITES, h.SINGLE, CLIENTS)
        total, names = h.cpu_seconds(server.pid)
        after = server.metrics()
        group = (after["feed_changes_total"] - counters["feed_changes_total"]) / (
            after["feed_batches_total"] - counters["feed_batches_total"])
        loop = sum(names[n] - before[1][n] for n in names if n.startswith("martlet-loop"))
        return {"rate": WRITES / account["seconds"], "cpu": (total - before[0]) / WRITES * 1e6,
                "loop": loop / WRITES * 1e6, "group": group, "share": account["share"], "p99": account["p99_ms"]}
    finally:
        server.stop()


def main():
    h.tools()
    served, store, loop = [], [], []
    for _ in range(h.rounds()):
        served.append(measure())
        folder = tempfile.mkdtemp(prefix="martlet-bench-")
        try:
            store.append(h.bench("store", "--data", os.path.join(folder, "a"), "--in-flight", CLIENTS, "--writes", WRITES))
            group = max(1, round(served[-1]["group"]))
            words = [h.tool("rowloop"), os.path.join(folder, "a", "store.sqlite"), os.path.join(folder, "c.sqlite"),
                     str(group), str(WRITES)]
            loop.append(json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout))
        finally:
            shutil.rmtree(folder)
    ratio = [a["rate"] / b["per_second"] for a, b in zip(served, store)]
    print("Durable mutations over HTTP keep-alive, %d clients (%s)" % (CLIENTS, h.machine()))
    print("  served %s a second in groups of %s; CPU each %s, of it the event loop %s; answer p99 %s" % (
        h.summary([s["rate"] for s in served]), h.summary([s["group"] for s in served]),
        h.summary([s["cpu"] for s in served], " us"), h.summary([s["loop"] for s in served], " us"),
        h.summary([s["p99"] for s in served], " ms")))
    print("  store alone, %d in flight: %s a second, CPU each %s" % (
        CLIENTS, h.summary([s["per_second"] for s in store]), h.summary([s["cpu_us"] for s in store], " us")))
    print("  C loop in the served groups: %s a second, CPU each %s" % (
        h.summary([s["per_second"] for s in loop]), h.summary([s["cpu_us"] for s in loop], " us")))
    print("  served / store alone %s; bar 0.5: %s; every answer was good; %s" % (
        h.summary(ratio), h.verdict(h.median(ratio) >= 0.5), h.generator([s["share"] for s in served])))


if __name__ == "__main__":
    main()
