"""The DataStore beside its server: the first sync of a store, and many stores that follow writes.

    Benchmarks/lines/sync.py [RECORDS]

RECORDS (100,000) records of 300 bytes with one index. MEMBERS (400) stores with three live queries of 50 rows each follow RATE
(1,000) writes a second for SECONDS (60); each write is in the three queries of one store. MEMBERS=0 leaves that part out.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness as h

RECORDS = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
MEMBERS = int(os.environ.get("MEMBERS", "400"))
RATE = int(os.environ.get("RATE", "1000"))
SECONDS = int(os.environ.get("SECONDS", "60"))
SCHEMA = """type Reading @model @versioned {
  id: ID!
  topic: String! @index
  number: Int!
  text: String!
  sent: String!
}
"""


def spent(pid):
    """Processor time of a process in seconds, threads that have ended included, to a hundredth of a second."""
    with open("/proc/%d/stat" % pid) as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def schema(folder):
    path = os.path.join(folder, "schema.graphql")
    with open(path, "w") as file:
        file.write(SCHEMA)
    return path


def fill(server, folder):
    path = os.path.join(folder, "records.jsonl")
    chance = random.Random(7)
    with open(path, "w") as file:
        for number in range(RECORDS):
            file.write(json.dumps({
                "id": "r%08d" % number, "topic": "t%d" % chance.randrange(1000), "number": chance.randrange(1 << 30),
                "text": "".join(chance.choice("abcdefghij klmnopq") for _ in range(210)), "sent": "0"}) + "\n")
    subprocess.run([h.MARTLET, "import", "http://127.0.0.1:%d/graphql" % server.port, "Reading", path],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def first_sync(folder):
    server = h.Server(schema=schema(folder))
    try:
        fill(server, folder)
        url = "ws://127.0.0.1:%d/graphql" % server.port
        for place in ("memory", "file"):
            totals, clients, memory, last = [], [], [], {}
            for number in range(h.rounds(3)):
                words = ["sync", "--url", url]
                if place == "file":
                    words += ["--file", os.path.join(folder, "client-%d.sqlite" % number)]
                before = spent(server.pid)
                last = h.bench(*words)
                if last["records"] != RECORDS:
                    sys.exit("the store has %d records" % last["records"])
                ours = (spent(server.pid) - before) * 1e6 / RECORDS
                totals.append(1e6 / (ours + last["cpu_us_per_record"]))
                clients.append(last["cpu_us_per_record"])
                memory.append(last["peak_memory_mib"])
            print("  first sync of %d records into %s: %s records per second of processor time of both (client %s us each), bar 50,000: %s"
                  % (RECORDS, place, h.summary(totals), h.summary(clients), h.verdict(h.median(totals) >= 50_000)))
            print("    client's largest memory %s MiB, %d snapshots meanwhile%s" % (
                h.summary(memory), last["snapshots_meanwhile"],
                ", file %d MiB" % last["file_mib"] if "file_mib" in last else ""))
    finally:
        server.stop()


def crowd(folder):
    server = h.Server(schema=schema(folder))
    try:
        url = "ws://127.0.0.1:%d/graphql" % server.port
        process = h.Process([h.LAB, "bench", "crowd", "--url", url, "--members", str(MEMBERS)])
        process.line("ready", timeout=300)
        lines = []
        reading = threading.Thread(target=lambda: lines.extend(process.process.stdout), daemon=True)
        reading.start()
        before = spent(server.pid)
        account = h.write(server.port, RATE * SECONDS, clients=4,
                          options=["--interval", int(1e6 / RATE), "--keys", MEMBERS])
        used = spent(server.pid) - before
        process.process.stdin.close()
        reading.join(60)
        process.stop()
        print("  %d stores, three live queries each, %d writes in %.1f s; server %.0f us of processor time for a write"
              % (MEMBERS, RATE * SECONDS, account["seconds"], used * 1e6 / (RATE * SECONDS)))
        for line in lines:
            print("    " + line.strip())
    finally:
        server.stop()


h.tools()
print("A DataStore and its server (%s)" % h.machine())
with tempfile.TemporaryDirectory(prefix="martlet-bench-") as home:
    first_sync(home)
    if MEMBERS:
        crowd(home)
