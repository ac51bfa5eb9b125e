"""Fan-out of one subscription to many members, against a C floor and a Swift floor that send the same frames.

Server: (CPU with N members minus CPU of the same writes with none) / events delivered. Floors: CPU / events delivered.
All three get their bursts at the same pace and join a burst into one send per member.
"""

import os
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness as h

h.tools()
# Bursts of a round, in place of the usual number: with few members 500 are over before their events show beside the writes.
BURSTS = int(os.environ.get("BURSTS", "0"))
COUNTERS = ("socket_sends_total", "feed_predicate_evaluations_total", "feed_payload_encodings_total",
            "loop_wakes_total", "feed_deliveries_total", "feed_batches_total")


def pace(members):
    """Microseconds between bursts: at most about half of what one core could do."""
    return max(10_000, members * 15)


def bursts(members):
    return BURSTS or max(20, min(500, 100_000 // members))


def writes(server, members, burst, first):
    body = h.SINGLE if burst == 1 else h.TRANSACTION
    return h.write(server.port, bursts(members), body, clients=4, options=[
        "--interval", pace(members), "--writes", burst, "--first", first])


def spent(server, before):
    """Processor time since `before`: of all threads, and of the event loops alone."""
    total, names = h.cpu_seconds(server.pid)
    loops = [name for name in names if name.startswith("martlet-loop")]
    return total - before[0], sum(names[name] - before[1][name] for name in loops)


def measure_server(members, burst):
    """CPU per delivered event, counters per event, the shares of the generators."""
    server = h.Server()
    try:
        writes(server, members, burst, 0)  # warms up: plan, statements, buffers
        h.settle()
        before = h.cpu_seconds(server.pid)
        bare_load = writes(server, members, burst, 0)
        h.settle()
        bare = spent(server, before)
        count = bursts(members) * burst
        load = h.subscribers(server.port, members, count, options=["--cursors"])
        h.settle()
        counters = server.metrics()
        before = h.cpu_seconds(server.pid)
        write_load = writes(server, members, burst, 0)
        account = h.finish(load, "fan-out")
        h.settle()
        whole = spent(server, before)
        after = server.metrics()
        delta = {name: after[name] - counters[name] for name in COUNTERS}
        delivered = members * count
        return {"each": (whole[0] - bare[0]) / delivered * 1e6, "loop": (whole[1] - bare[1]) / delivered * 1e6,
                "bare": bare[0] / count * 1e6, "bare_loop": bare[1] / count * 1e6, "counters": delta,
                "shares": [account["share"], bare_load["share"], write_load["share"]], "events": account["events"]}
    finally:
        server.stop()


def measure_floor(words, port, members, burst):
    floor = h.Process(words)
    try:
        floor.line("listening")
        count = bursts(members) * burst
        load = h.subscribers(port, members, count, options=["--cursors"])
        h.settle()
        before = h.cpu_seconds(floor.pid)[0]
        floor.tell("go %d %d %d" % (bursts(members), burst, pace(members)))
        account = h.finish(load, words[0])
        h.settle()
        cost = h.cpu_seconds(floor.pid)[0] - before
        return {"each": cost / (members * count) * 1e6, "shares": [account["share"]]}
    finally:
        floor.stop()


def main():
    sizes = [int(w) for w in sys.argv[1:]] or [100, 1000, 10000]
    server = h.Server()
    frame = h.capture(server.port)
    server.stop()
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write(frame)
        file.flush()
        print("Fan-out, CPU per delivered event; frame of %d bytes (%s)" % (len(frame), h.machine()))
        for members in sizes:
            for burst in (1, 8):
                ours, c, swift = [], [], []
                for _ in range(h.rounds()):
                    ours.append(measure_server(members, burst))
                    port = h.free_port()
                    c.append(measure_floor([h.tool("floor"), str(port), file.name], port, members, burst))
                    port = h.free_port()
                    swift.append(measure_floor([h.LAB, "bench", "floor", "--port", str(port), "--frame", file.name],
                                               port, members, burst))
                report(members, burst, ours, c, swift)


def report(members, burst, ours, c, swift):
    count = bursts(members) * burst
    ratio = [o["each"] / s["each"] for o, s in zip(ours, swift)]
    floors = [s["each"] / p["each"] for s, p in zip(swift, c)]
    print("  %d members, bursts of %d: server %s, Swift floor %s, C floor %s" % (
        members, burst, h.summary([o["each"] for o in ours], " us"), h.summary([s["each"] for s in swift], " us"),
        h.summary([p["each"] for p in c], " us")))
    bar = 1.1 if members >= 1_000 else 1.5
    print("    server / Swift floor %s; bar %.1f: %s;  Swift floor / C floor %s; bar 1.5: %s" % (
        h.summary(ratio), bar, h.verdict(h.median(ratio) <= bar), h.summary(floors), h.verdict(h.median(floors) <= 1.5)))
    print("    server's event loop alone %s; writes with no member cost %s each, of it the loop %s" % (
        h.summary([o["loop"] for o in ours], " us"), h.summary([o["bare"] for o in ours], " us"),
        h.summary([o["bare_loop"] for o in ours], " us")))
    k = ours[-1]["counters"]
    print("    per burst: sends %.2f a member, wakes %.2f, batches %.2f;  per event: evaluations %.2f, encodings %.2f" % (
        k["socket_sends_total"] / bursts(members) / members, k["loop_wakes_total"] / bursts(members),
        k["feed_batches_total"] / bursts(members), k["feed_predicate_evaluations_total"] / count,
        k["feed_payload_encodings_total"] / count))
    print("    every one of %d events arrived in order, %d times; %s" % (
        members * count, len(ours),
        h.generator([s for run in ours + c + swift for s in run["shares"]])))


if __name__ == "__main__":
    main()
