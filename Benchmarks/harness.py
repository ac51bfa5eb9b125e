"""What the benchmark scripts share: building, starting servers and load, reading processor time, medians."""

import json
import os
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TOOLS = os.path.join(ROOT, ".build", "bench")
MARTLET = os.environ.get("MARTLET", os.path.join(ROOT, ".build", "release", "martlet"))
LAB = os.environ.get("MARTLET_LAB", os.path.join(ROOT, ".build", "release", "martlet-lab"))
SCHEMA = os.path.join(ROOT, "Benchmarks", "schema.graphql")
SELECTION = "id topic number text sent"
PAD = " and some more text for the size of it"
# One write: the marks are httpload's. The documents never change, so that their plans are kept, as with any client.
WRITE = '{"topic":"t@K@","number":@R@,"text":"@X@' + PAD + '","sent":"@T@"}'
SINGLE = ('{"query":"mutation Create($input: CreateReadingInput!) { createReading(input: $input) { id } }",'
          '"variables":{"input":' + WRITE + "}}")
TRANSACTION = ('{"query":"mutation Together($writes: [ModelWriteInput!]!) { transaction(writes: $writes) { __typename } }",'
               '"variables":{"writes":[<<{"createReading":' + WRITE + "}>>]}}")
EVERYTHING = "subscription { onCreateReading { %s } }" % SELECTION
FILTERED = "subscription One($topic: String!) { onCreateReading(filter: {topic: {eq: $topic}}) { %s } }" % SELECTION
KEYED = ["--variables", '{"topic":"t%d"}']


def tools():
    """Builds the C programs when their sources are newer."""
    os.makedirs(TOOLS, exist_ok=True)
    folder = os.path.join(ROOT, "Benchmarks", "Tools")
    for name, libraries in (("wsload", ["-lssl", "-lcrypto"]), ("httpload", []), ("floor", []), ("rowloop", ["-lsqlite3"]),
                            ("cacheloop", ["-lsqlite3"]), ("mint", ["-lcrypto"])):
        source, target = os.path.join(folder, name + ".c"), os.path.join(TOOLS, name)
        if not os.path.exists(target) or os.path.getmtime(target) < os.path.getmtime(source):
            subprocess.run(["gcc", "-O2", "-Wall", "-Wextra", "-o", target, source] + libraries, check=True)
    for program in (MARTLET, LAB):
        if not os.path.exists(program):
            sys.exit("There is no %s: run make build lab first." % program)


def tool(name):
    return os.path.join(TOOLS, name)


def python():
    """An interpreter with the Python peers installed."""
    folder = os.path.join(TOOLS, "venv")
    path = os.path.join(folder, "bin", "python")
    if not os.path.exists(os.path.join(folder, "ready")):
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        subprocess.run([path, "-m", "pip", "install", "-q", "-r",
                        os.path.join(ROOT, "Benchmarks", "Peers", "requirements.txt")], check=True)
        open(os.path.join(folder, "ready"), "w").close()
    return path


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def cpu_seconds(pid):
    """Time the kernel has run the process's threads, by thread name, and in all."""
    by_name, total = {}, 0.0
    for task in os.listdir("/proc/%d/task" % pid):
        try:
            with open("/proc/%d/task/%s/schedstat" % (pid, task)) as f:
                seconds = int(f.read().split()[0]) / 1e9
            with open("/proc/%d/task/%s/comm" % (pid, task)) as f:
                name = f.read().strip()
        except FileNotFoundError:
            continue
        by_name[name] = by_name.get(name, 0.0) + seconds
        total += seconds
    return total, by_name


def resident_kilobytes(pid):
    with open("/proc/%d/status" % pid) as f:
        return int(re.search(r"VmRSS:\s+(\d+)", f.read()).group(1))


class Process:
    """A started program whose standard output is read line by line."""

    def __init__(self, words, **options):
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        text=True, **options)
        self.pid = self.process.pid

    def line(self, start, timeout=60):
        """The next line that begins with `start`."""
        while True:
            line = self.process.stdout.readline()
            if not line:
                raise RuntimeError("%s ended: %s" % (self.process.args[0], self.process.stderr.read()[-800:]))
            if line.startswith(start):
                return line.strip()

    def tell(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def end(self):
        """Closes its input and answers the last line of its output."""
        out, err = self.process.communicate(timeout=120)
        lines = out.strip().splitlines()
        return (lines[-1] if lines else ""), err, self.process.returncode

    def stop(self, how=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(how)
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe and not pipe.closed:
                try:
                    pipe.close()
                except BrokenPipeError:
                    pass


class Server(Process):
    """`martlet serve` on a fresh folder."""

    def __init__(self, port=None, data=None, options=(), schema=SCHEMA, access=None):
        self.port = port or free_port()
        self.owned = data is None
        self.data = data or tempfile.mkdtemp(prefix="martlet-bench-")
        super().__init__([MARTLET, "serve", schema, "--data", self.data, "--port", str(self.port), "--log-level", "error"]
                         + (["--access", access] if access else ["--dev"]) + list(options) + os.environ.get("OPTIONS", "").split())
        self.line("Serving")

    def metrics(self, scheme="http", token=None):
        import ssl
        context = ssl._create_unverified_context() if scheme == "https" else None
        request = urllib.request.Request("%s://127.0.0.1:%d/metrics" % (scheme, self.port))
        if token:
            request.add_header("Authorization", "Bearer " + token)
        with urllib.request.urlopen(request, context=context) as answer:
            text = answer.read().decode()
        return {m.group(1): int(m.group(2)) for m in re.finditer(r"^martlet_(\w+) (-?\d+)$", text, re.M)}

    def stop(self, how=signal.SIGTERM):
        super().stop(how)
        if self.owned:
            shutil.rmtree(self.data, ignore_errors=True)


def subscribers(port, connections, events, query=EVERYTHING, options=(), timeout=120):
    """Starts wsload and waits until every subscription stands."""
    load = Process([tool("wsload"), "--port", str(port), "--connections", str(connections), "--events", str(events),
                    "--query", query, "--timeout", str(timeout)] + list(options))
    load.line("ready")
    return load


def finish(load, what):
    """The load client's own account. Everything arrived, checked and in order, or the figure does not exist."""
    line, errors, code = load.end()
    if code != 0:
        raise RuntimeError("%s: %s %s" % (what, line, errors[-800:]))
    account = json.loads(line)
    account["share"] = account["cpu"] / account["seconds"] if account["seconds"] else 0.0
    return account


def write(port, requests, body=SINGLE, clients=1, options=()):
    """Runs httpload to its end and answers its account."""
    words = [tool("httpload"), "--port", str(port), "--clients", str(clients), "--requests", str(requests), "--body", body]
    result = subprocess.run(words + [str(o) for o in options], capture_output=True, text=True)
    if result.returncode != 0:
        raise RuntimeError("httpload: %s %s" % (result.stdout, result.stderr[-800:]))
    account = json.loads(result.stdout)
    account["share"] = account["cpu"] / account["seconds"]
    return account


def bench(*words):
    """Runs `martlet-lab bench` and answers its figure."""
    out = subprocess.run([LAB, "bench"] + [str(w) for w in words], capture_output=True, text=True, check=True).stdout
    return json.loads(out.strip().splitlines()[-1])


def summary(values, unit=""):
    """Median and spread as text."""
    values = sorted(values)
    return "%.3g%s (%.3g to %.3g)" % (statistics.median(values), unit, values[0], values[-1])


median = statistics.median


def verdict(ok):
    return "holds" if ok else "MISSED"


def generator(shares):
    """The load generator's own share of a core; a saturated one makes the figure worthless."""
    worst = max(shares)
    return "generator at most %.0f %% of a core%s" % (worst * 100, "" if worst < 0.95 else ": SATURATED, no figure")


def machine():
    """What else the machine is doing."""
    return "load average %.1f on %d cores" % (os.getloadavg()[0], os.cpu_count())


def rounds(default=5):
    return int(os.environ.get("ROUNDS", default))


def settle(seconds=0.3):
    time.sleep(seconds)


class Session:
    """One WebSocket in graphql-transport-ws, acknowledged, with cursors."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.sendall(
            b"GET /graphql HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
            b"Sec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n")
        self.stream = self.socket.makefile("rb")
        while self.stream.readline().strip():
            pass
        self.send({"type": "connection_init", "payload": {"martlet": {"cursors": True}}})
        self.receive("connection_ack")

    def send(self, *messages):
        """Sends messages in one piece, masked with zeros."""
        frames = b""
        for message in messages:
            text = json.dumps(message).encode()
            head = bytes([0x81, 0x80 | len(text)]) if len(text) < 126 else bytes([0x81, 0xFE]) + len(text).to_bytes(2, "big")
            frames += head + bytes(4) + text
        self.socket.sendall(frames)

    def receive(self, kind):
        """The text of the next message of a type; others are dropped."""
        while True:
            length = self.stream.read(2)[1] & 127
            if length == 126:
                length = int.from_bytes(self.stream.read(2), "big")
            text = self.stream.read(length).decode()
            if '"type":"%s"' % kind in text:
                return text

    def close(self):
        self.stream.close()
        self.socket.close()


def checksum(number):
    """FNV-1a over the number's decimal digits, as the subscribers check it."""
    value = 0xCBF29CE484222325
    for digit in str(number).encode():
        value = (value ^ digit) * 0x100000001B3 % 2**64
    return "%016x" % value


def capture(port):
    """The text of one event as the server sends it to a subscriber called c7, with the floor's marks put in."""
    session = Session(port)
    session.send({"id": "c7", "type": "subscribe", "payload": {"query": EVERYTHING}})
    session.receive("ready")
    write(port, 1, options=["--first", 123456])
    text = session.receive("next")
    session.close()
    sum_ = re.search(r'"text":"([0-9a-f]{16})', text).group(1)
    text = text.replace('"id":"c7"', '"id":"@I@"').replace('"number":123456', '"number":@N@').replace(sum_, "@X@")
    return re.sub(r'("cursor":"[0-9a-f]+-)\d+"', r'\1@O@"', text)
