"""Four mutations in flight on one WebSocket and 1,000 subscribers: sends per member, and the server's CPU per delivered event.

With the path of another build of the command as argument, runs of both alternate, and the ratio of their CPU is printed.
"""

import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness as h

MEMBERS, IN_FLIGHT, ROUNDS = 1000, 4, 100
MUTATION = "mutation Create($input: CreateReadingInput!) { createReading(input: $input) { id } }"


def message(number):
    written = {"topic": "t0", "number": number, "text": h.checksum(number) + h.PAD, "sent": "0"}
    return {"id": "m%d" % number, "type": "subscribe", "payload": {"query": MUTATION, "variables": {"input": written}}}


def measure(program):
    """Of one run: microseconds of CPU per delivered event, sends per member and round, groups per round."""
    h.MARTLET = program
    server = h.Server()
    try:
        load = h.subscribers(server.port, MEMBERS, ROUNDS * IN_FLIGHT, options=["--cursors"])
        session = h.Session(server.port)
        h.settle()
        counters, before = server.metrics(), h.cpu_seconds(server.pid)[0]
        for number in range(0, ROUNDS * IN_FLIGHT, IN_FLIGHT):
            session.send(*[message(number + place) for place in range(IN_FLIGHT)])
            for _ in range(IN_FLIGHT):
                session.receive("complete")
            # As the fan-out's bursts: about half of what one core could send.
            time.sleep(0.03)
        account = h.finish(load, "in flight")
        h.settle()
        cost, after = h.cpu_seconds(server.pid)[0] - before, server.metrics()
        session.close()
        return {"each": cost / (MEMBERS * ROUNDS * IN_FLIGHT) * 1e6, "share": account["share"],
                "sends": (after.get("socket_sends_total", 0) - counters.get("socket_sends_total", 0)) / MEMBERS / ROUNDS,
                "groups": (after.get("feed_batches_total", 0) - counters.get("feed_batches_total", 0)) / ROUNDS}
    finally:
        server.stop()


def main():
    h.tools()
    programs = [h.MARTLET] + sys.argv[1:2]
    runs = {program: [] for program in programs}
    for _ in range(h.rounds()):
        for program in programs:
            runs[program].append(measure(program))
    ours = runs[programs[0]]
    sends = [run["sends"] for run in ours]
    print("Four mutations in flight on one socket, %d subscribers (%s)" % (MEMBERS, h.machine()))
    print("  CPU per delivered event %s; %s groups for four mutations; every event arrived in order; %s" % (
        h.summary([run["each"] for run in ours], " us"), h.summary([run["groups"] for run in ours]),
        h.generator([run["share"] for run in ours])))
    print("  sends per member %s; bar 1.3: %s" % (h.summary(sends), h.verdict(h.median(sends) <= 1.3)))
    if len(programs) > 1:
        other = runs[programs[1]]
        ratio = [a["each"] / b["each"] for a, b in zip(ours, other)]
        print("  %s: %s, %s sends per member" % (
            programs[1], h.summary([run["each"] for run in other], " us"), h.summary([run["sends"] for run in other])))
        print("  ours / the other's %s" % h.summary(ratio))


main()
