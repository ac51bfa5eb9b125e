"""1,000 against 100,000 differently filtered subscriptions over 1,000 connections: processor time of the event loop
per event. The writer's thread, which commits, is not counted; the mutation's own HTTP and GraphQL are subtracted."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness as h

CONNECTIONS, EVENTS, BURST = 1000, 100_000, 8


def loop_seconds(pid):
    return sum(s for name, s in h.cpu_seconds(pid)[1].items() if name.startswith("martlet-loop"))


def writes(server, keys, events=EVENTS):
    return h.write(server.port, events // BURST, h.TRANSACTION, 8, [
        "--interval", 1000, "--writes", BURST, "--keys", keys])


def measure(per_connection):
    server = h.Server(options=["--limit", "session.operationsPerConnection=1000"])
    try:
        keys = CONNECTIONS * per_connection
        writes(server, keys, EVENTS // 10)
        before = loop_seconds(server.pid)
        writes(server, keys)
        bare = loop_seconds(server.pid) - before
        load = h.subscribers(server.port, CONNECTIONS, EVENTS // keys, h.FILTERED, h.KEYED + [
            "--cursors", "--per-connection", str(per_connection), "--key-field", '"topic":"t'])
        h.settle(1)
        counters, before = server.metrics(), loop_seconds(server.pid)
        written = writes(server, keys)
        account = h.finish(load, "filters")
        whole, after = loop_seconds(server.pid) - before, server.metrics()
        return {"each": (whole - bare) / EVENTS * 1e6, "whole": whole / EVENTS * 1e6,
                "share": max(account["share"], written["share"]),
                "evaluations": (after["feed_predicate_evaluations_total"]
                                - counters["feed_predicate_evaluations_total"]) / EVENTS,
                "kilobytes": h.resident_kilobytes(server.pid)}
    finally:
        server.stop()


def main():
    h.tools()
    few, many = [], []
    for _ in range(h.rounds(3)):
        few.append(measure(1))
        many.append(measure(100))
    ratio = [b["whole"] / a["whole"] for a, b in zip(few, many)]
    bare = [b["each"] / a["each"] for a, b in zip(few, many)]
    print("Differently filtered subscriptions over 1,000 connections, event loop per event (%s)" % h.machine())
    for name, runs in (("1,000", few), ("100,000", many)):
        print("  %s subscriptions: %s (without the mutation %s); evaluations per event %.2f; resident %d MB" % (
            name, h.summary([r["whole"] for r in runs], " us"), h.summary([r["each"] for r in runs], " us"),
            runs[-1]["evaluations"], runs[-1]["kilobytes"] // 1024))
    print("  ratio %s; bar 1.3: %s; without the mutation %s; all %d events arrived; %s" % (
        h.summary(ratio), h.verdict(h.median(ratio) <= 1.3), h.summary(bare), EVENTS,
        h.generator([r["share"] for r in few + many])))


if __name__ == "__main__":
    main()
