"""Resident memory of 10,000 idle connections with one subscription each: equal and distinct filters, deflate offered,
plain and TLS."""

import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness as h

CONNECTIONS = 10_000
# The filter's value written into the document, so that no two documents and no two plans are equal.
WRITTEN = 'subscription { onCreateReading(filter: {topic: {eq: \\"t%d\\"}}) { ' + h.SELECTION + " } }"


def measure(query, options, serving=()):
    server = h.Server(options=serving)
    try:
        # Warms up what every process pays once.
        load = h.subscribers(server.port, 50, 0, query, ["--cursors", "--unchecked"] + options)
        load.end()
        h.settle(1)
        before = h.resident_kilobytes(server.pid)
        load = h.subscribers(server.port, CONNECTIONS, 0, query, ["--cursors", "--unchecked"] + options, timeout=300)
        h.settle(2)
        after = h.resident_kilobytes(server.pid)
        load.end()
        return (after - before) / CONNECTIONS
    finally:
        server.stop()


def main():
    h.tools()
    folder = tempfile.mkdtemp(prefix="martlet-bench-")
    key, certificate = os.path.join(folder, "key.pem"), os.path.join(folder, "certificate.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days",
                    "2", "-subj", "/CN=localhost", "-keyout", key, "-out", certificate], check=True, capture_output=True)
    tls = ["--tls-certificate", certificate, "--tls-key", key]
    print("Idle memory, %d connections with one subscription, resident KB each (%s)" % (CONNECTIONS, h.machine()))
    cases = [("equal filters", h.EVERYTHING, [], [], 4), ("distinct filters", h.FILTERED, h.KEYED, [], 4),
             ("equal, deflate offered", h.EVERYTHING, ["--deflate"], [], 4),
             ("distinct, deflate offered", h.FILTERED, h.KEYED + ["--deflate"], [], 4),
             ("distinct documents", WRITTEN, [], [], None),
             ("equal, TLS", h.EVERYTHING, ["--tls"], tls, 24), ("distinct, TLS", h.FILTERED, h.KEYED + ["--tls"], tls, 24)]
    try:
        for name, query, options, serving, bar in cases:
            each = [measure(query, options, serving) for _ in range(h.rounds(3))]
            held = "bar %d: %s" % (bar, h.verdict(h.median(each) <= bar)) if bar else "no bar"
            print("  %-26s %s; %s" % (name, h.summary(each, " KB"), held))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
