"""5,000 clients come back after the server was killed: time until all are live again, reads of the log, nothing lost.

The clients are stopped while the server is killed, started, written to, and killed and started once more: half of what
each of them has missed is in the new server's memory and half only in the log on disk.
"""

import os
import shutil
import signal
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness as h

CLIENTS, BEFORE, MISSED, AFTER = 5000, 10, 20, 10


def measure():
    folder = tempfile.mkdtemp(prefix="martlet-bench-")
    server = h.Server(data=folder)
    try:
        load = h.subscribers(server.port, CLIENTS, BEFORE + MISSED + AFTER, options=["--cursors", "--resume"])
        h.write(server.port, BEFORE, options=["--interval", 100_000])
        h.settle(1)
        os.kill(load.pid, signal.SIGSTOP)
        server.stop(signal.SIGKILL)
        server = h.Server(server.port, folder)
        h.write(server.port, MISSED // 2, options=["--first", BEFORE])
        server.stop(signal.SIGKILL)
        server = h.Server(server.port, folder)
        h.write(server.port, MISSED // 2, options=["--first", BEFORE + MISSED // 2])
        before = h.cpu_seconds(server.pid)[0]
        os.kill(load.pid, signal.SIGCONT)
        load.line("resumed")
        spent = h.cpu_seconds(server.pid)[0] - before
        reads = server.metrics()["feed_catch_up_reads_total"]
        h.write(server.port, AFTER, options=["--first", BEFORE + MISSED, "--interval", 100_000])
        account = h.finish(load, "resume")
        gaps = server.metrics()["feed_gaps_total"]
        return {"seconds": account["resume_seconds"], "reads": reads, "server_cpu": spent, "gaps": gaps, **account}
    finally:
        server.stop(signal.SIGKILL)
        shutil.rmtree(folder, ignore_errors=True)


def main():
    h.tools()
    runs = [measure() for _ in range(h.rounds())]
    times = [r["resume_seconds"] for r in runs]
    print("%d clients resume after a kill and restart, each with %d events to catch up (%s)" % (
        CLIENTS, MISSED, h.machine()))
    print("  all live again after %s; bar 3 s: %s;  log reads %s; bar 50: %s;  server CPU %s" % (
        h.summary(times, " s"), h.verdict(h.median(times) <= 3), h.summary([r["reads"] for r in runs]),
        h.verdict(max(r["reads"] for r in runs) <= 50), h.summary([r["server_cpu"] for r in runs], " s")))
    print("  lost 0, gaps %d, repeated %d, of %d events in each run" % (
        max(r["gaps"] for r in runs), max(r["repeated"] for r in runs), runs[0]["events"]))


if __name__ == "__main__":
    main()
