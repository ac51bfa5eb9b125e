"""The synced tree: fan-out, resume, a window over many children, write to acknowledgement, presence; a leaf write.

    tree.py [fanout] [resume] [window] [writes] [presence] [leaf]
"""

import base64
import hashlib
import json
import os
import resource
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness as h

RULES = '{"rules": {"open": {".read": true, ".write": "newData.exists() || data.exists()"}}}'
VALUE = '{"number":%d,"text":"some text that is as long as that of a reading, so that the frame has its size","topic":"t42"}'


class Peer:
    """One client of the tree's WebSocket, or of another path's."""

    def __init__(self, port, target="/.ws?v=5&ns=bench", protocol=None):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.buffer, self.number, self.received, self.sent = b"", 0, 0, 0
        more = "Sec-WebSocket-Protocol: %s\r\n" % protocol if protocol else ""
        self.socket.sendall(("GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                             "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n%s\r\n"
                             % (target, port, more)).encode())
        while b"\r\n\r\n" not in self.buffer:
            self.fill()
        self.buffer = self.buffer.split(b"\r\n\r\n", 1)[1]
        self.received = len(self.buffer)

    def fill(self):
        data = self.socket.recv(1 << 20)
        if not data:
            raise RuntimeError("the server has closed a socket")
        self.buffer += data
        self.received += len(data)

    def text(self, message):
        """Sends a text frame."""
        data = message.encode()
        length = len(data)
        if length < 126:
            head = bytes([0x81, 0x80 | length])
        elif length < 65536:
            head = bytes([0x81, 0xFE]) + length.to_bytes(2, "big")
        else:
            head = bytes([0x81, 0xFF]) + length.to_bytes(8, "big")
        self.socket.sendall(head + bytes(4) + data)
        self.sent += len(head) + 4 + length

    def frame(self):
        """The next text frame."""
        while True:
            if len(self.buffer) >= 2:
                length, start = self.buffer[1], 2
                if length == 126:
                    length, start = int.from_bytes(self.buffer[2:4], "big"), 4
                elif length == 127:
                    length, start = int.from_bytes(self.buffer[2:10], "big"), 10
                if len(self.buffer) >= start + length:
                    text = self.buffer[start:start + length]
                    self.buffer = self.buffer[start + length:]
                    return text.decode()
            self.fill()

    def message(self):
        text = self.frame()
        if text.isdigit() and int(text) > 0:
            text = "".join(self.frame() for _ in range(int(text)))
        return json.loads(text)

    def send(self, action, body):
        self.number += 1
        text = json.dumps({"t": "d", "d": {"r": self.number, "a": action, "b": body}}, separators=(",", ":"))
        pieces = [text[start:start + 16384] for start in range(0, len(text), 16384)]
        if len(pieces) > 1:
            self.text(str(len(pieces)))
        for piece in pieces:
            self.text(piece)
        return self.number

    def answer(self, number):
        """Reads up to the answer, and gives it with the pushes before it."""
        pushes = []
        while True:
            message = self.message()
            data = message["d"]
            if message["t"] == "d" and data.get("r") == number:
                if data["b"]["s"] != "ok":
                    raise RuntimeError("refused: %s" % data)
                return data["b"], pushes
            pushes.append(message)


class Writer:
    """Requests over one connection that is kept."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.stream = self.socket.makefile("rb")

    def request(self, method, target, body=""):
        self.socket.sendall(("%s %s HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: %d\r\n\r\n%s"
                             % (method, target, len(body), body)).encode())
        status, length = int(self.stream.readline().split()[1]), 0
        while True:
            line = self.stream.readline().strip().lower()
            if not line:
                break
            if line.startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        text = self.stream.read(length)
        if status >= 300:
            raise RuntimeError("%s %s: %d %s" % (method, target, status, text[:200]))
        return text


class Serving:
    """`martlet serve` with a tree, on a fresh folder."""

    def __enter__(self):
        self.folder = tempfile.mkdtemp(prefix="martlet-bench-")
        rules = os.path.join(self.folder, "rules.json")
        with open(rules, "w") as file:
            file.write(RULES)
        self.server = h.Server(options=["--rules", rules])
        return self.server

    def __exit__(self, *_):
        self.server.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


# Fan-out

MEMBERS, EVENTS, INTERVAL = 1000, 100, 0.03


def collect(peers, size):
    """Reads `size` bytes from each peer; all have to be the same. Runs in a thread of its own."""
    hashes, counts = [hashlib.sha1() for _ in peers], [0] * len(peers)
    first = b""
    selector = selectors.DefaultSelector()
    for index, peer in enumerate(peers):
        hashes[index].update(peer.buffer)
        counts[index] = len(peer.buffer)
        selector.register(peer.socket, selectors.EVENT_READ, index)
    first += peers[0].buffer
    open_count, end = len(peers), time.monotonic() + 120
    while open_count:
        if time.monotonic() > end:
            raise RuntimeError("events are missing: %d of %d members have all" % (len(peers) - open_count, len(peers)))
        for key, _ in selector.select(1):
            data = key.fileobj.recv(1 << 16)
            counts[key.data] += len(data)
            hashes[key.data].update(data)
            if key.data == 0:
                first += data
            if counts[key.data] >= size or not data:
                selector.unregister(key.fileobj)
                open_count -= 1
    if counts != [size] * len(peers) or len({one.digest() for one in hashes}) != 1:
        raise RuntimeError("the members were not sent the same")
    return first


def frames(data):
    texts = []
    while data:
        length, start = data[1], 2
        if length == 126:
            length, start = int.from_bytes(data[2:4], "big"), 4
        texts.append(data[start:start + length].decode())
        data = data[start + length:]
    return texts


def frame_bytes(text):
    return len(text.encode()) + (2 if len(text.encode()) < 126 else 4)


def write_events(writer, first):
    due = time.monotonic()
    for number in range(first, first + EVENTS):
        due += INTERVAL
        time.sleep(max(0, due - time.monotonic()))
        writer.request("PUT", "/open/room/line.json?print=silent", VALUE % number)


def in_thread(peers, size):
    result = {}

    def run():
        try:
            result["data"] = collect(peers, size)
        except Exception as error:
            result["error"] = error

    thread = threading.Thread(target=run)
    thread.start()
    return thread, result


def joined(thread, result):
    thread.join()
    if "error" in result:
        raise result["error"]
    return result["data"]


def event_text(number):
    return '{"t":"d","d":{"a":"d","b":{"p":"open/room/line","d":%s}}}' % (VALUE % number)


def serve_members():
    with Serving() as server:
        writer = Writer(server.port)
        write_events(writer, 100)
        h.settle()
        before = h.cpu_seconds(server.pid)[0]
        write_events(writer, 100)
        h.settle()
        bare = h.cpu_seconds(server.pid)[0] - before
        peers = [Peer(server.port) for _ in range(MEMBERS)]
        for peer in peers:
            peer.message()
            peer.answer(peer.send("q", {"p": "/open/room", "h": ""}))
        h.settle()
        size = sum(frame_bytes(event_text(n)) for n in range(200, 200 + EVENTS))
        collecting = in_thread(peers, size)
        before, own = h.cpu_seconds(server.pid)[0], time.process_time()
        write_events(writer, 200)
        data = joined(*collecting)
        h.settle()
        cost = h.cpu_seconds(server.pid)[0] - before
        share = (time.process_time() - own) / (EVENTS * INTERVAL)
        if [json.loads(t) for t in frames(data)] != [json.loads(event_text(n)) for n in range(200, 200 + EVENTS)]:
            raise RuntimeError("other events than those written")
        return (cost - bare) / (MEMBERS * EVENTS) * 1e6, share, bare / EVENTS * 1e6


def floor_members():
    text = event_text(200).replace("open/room/line", "open/@I@/line").replace('"number":200', '"number":@N@')
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write(text)
        file.flush()
        port = h.free_port()
        floor = h.Process([h.LAB, "bench", "floor", "--port", str(port), "--frame", file.name])
        try:
            floor.line("listening")
            peers = []
            for _ in range(MEMBERS):
                peer = Peer(port, "/", "graphql-transport-ws")
                peer.text('{"type":"connection_init"}')
                peer.frame()
                peer.text('{"id":"room","type":"subscribe","payload":{}}')
                peer.frame()
                peers.append(peer)
            h.settle()
            size = sum(frame_bytes(event_text(n)) for n in range(EVENTS))
            collecting = in_thread(peers, size)
            before, own = h.cpu_seconds(floor.pid)[0], time.process_time()
            floor.tell("go %d 1 %d" % (EVENTS, INTERVAL * 1e6))
            joined(*collecting)
            h.settle()
            cost = h.cpu_seconds(floor.pid)[0] - before
            return cost / (MEMBERS * EVENTS) * 1e6, (time.process_time() - own) / (EVENTS * INTERVAL)
        finally:
            floor.stop()


def fanout():
    ours, floors = [], []
    for _ in range(h.rounds(3)):
        ours.append(serve_members())
        floors.append(floor_members())
    ratio = [a[0] / b[0] for a, b in zip(ours, floors)]
    print("Tree, %d listeners of one node, CPU per delivered event; frame of %d bytes (%s)" % (
        MEMBERS, len(event_text(200)), h.machine()))
    print("  server %s, Swift floor %s; ratio %s; bar 1.2: %s" % (
        h.summary([a[0] for a in ours], " us"), h.summary([b[0] for b in floors], " us"), h.summary(ratio),
        h.verdict(h.median(ratio) <= 1.2)))
    print("  the write itself, which has no counterpart in the floor and is left out: %s" % (
        h.summary([a[2] for a in ours], " us")))
    print("  every member was sent the same %d events, checked; %s" % (
        EVENTS, h.generator([a[1] for a in ours + floors])))


# Resume

def fill(writer, node, count, text):
    """Writes `count` children of `text`, in requests of at most a megabyte."""
    # A merge changes at most store.transactionChanges children.
    step = min(10_000, max(1, 1_000_000 // (len(text) + 16)))
    for start in range(0, count, step):
        part = {"k%06d" % n: text for n in range(start, min(count, start + step))}
        writer.request("PATCH", "/open/%s.json?print=silent" % node, json.dumps(part))


def digest(text):
    return base64.b64encode(hashlib.sha1(text.encode()).digest()).decode()


def ranges(value):
    """The hashes by ranges that a client of version 5 sends of a node of texts, and the hash of all of it."""
    size = sum(len(key) + len(text) + 4 for key, text in value.items())
    most, keys, hashes, current = max(512, int((100 * size) ** 0.5)), [], [], []
    for key, text in value.items():
        current.append('"%s":(string:"%s")' % (key, text))
        if sum(map(len, current)) > most:
            keys.append(key)
            hashes.append(digest("(" + ",".join(current) + ")"))
            current = []
    if current:
        keys.append(key)
        hashes.append(digest("(" + ",".join(current) + ")"))
    whole = digest("".join(":%s:%s" % (key, digest("string:" + text)) for key, text in value.items()))
    return {"hs": hashes + [""], "ps": keys}, whole


# Writes to other nodes while the client is away.
ELSEWHERE = 2_000


def resume():
    text = "x" * 1000
    with Serving() as server:
        writer = Writer(server.port)
        fill(writer, "big", 10_000, text)
        target = "/.ws?v=5&ns=bench&x=1&c=bench"
        peer = Peer(server.port, target)
        peer.message()
        answer, pushes = peer.answer(peer.send("q", {"p": "/open/big", "h": ""}))
        size = len(json.dumps(pushes))
        peer.socket.close()
        for number in range(ELSEWHERE):
            writer.request("PUT", "/open/other/k%d.json?print=silent" % (number % 100), str(number))
        writer.request("PUT", "/open/big/k000007.json?print=silent", '"new"')
        peer = Peer(server.port, target)
        answer, pushes = peer.answer(peer.send("q", {"p": "/open/big", "h": "", "x": {"v": answer["v"]}}))
        both = peer.received + peer.sent
        found = [p["d"] for p in pushes if p["t"] == "d"]
        if found != [{"a": "m", "b": {"p": "open/big", "d": {"k000007": "new"}}}]:
            raise RuntimeError("sent instead of the leaf: %s" % str(found)[:200])
        print("Tree, resume of a node of %.1f MB after one leaf of it was written and %d of others: %d bytes in both directions,"
              % (size / 1e6, ELSEWHERE, both))
        print("  greeting, listen, leaf and answer; bar 512: %s; the whole value is %d times as much; the leaf's value was checked"
              % (h.verdict(both < 512), size // both))
        # A client of version 5, which has the value as it was.
        had = {"k%06d" % n: text for n in range(10_000)}
        hashes, whole = ranges(had)
        plain = Peer(server.port)
        plain.message()
        answer, pushes = plain.answer(plain.send("q", {"p": "/open/big", "h": whole, "ch": hashes}))
        found = [p["d"] for p in pushes if p["t"] == "d"]
        sent = found[0]["b"]["d"] if len(found) == 1 and found[0]["a"] == "rm" else []
        if len(sent) != 1 or sent[0]["m"].get("k000007") != "new":
            raise RuntimeError("sent instead of one range: %s" % str(found)[:200])
        print("  a client of version 5 was sent %d of %d ranges, %d bytes, for %d bytes of hashes; bar 1 range: %s" % (
            len(sent), len(hashes["ps"]), plain.received, plain.sent, h.verdict(len(sent) == 1)))


# A window over many children

def window():
    servers, clients, memory, small = [], [], [], []
    with Serving() as server:
        writer = Writer(server.port)
        fill(writer, "list", 50_000, "a child's value")
        fill(writer, "few", 50, "a child's value")
        for _ in range(h.rounds(3)):
            figure = h.bench("window", "--url", "ws://127.0.0.1:%d" % server.port, "--path", "/open/few")
            small.append(figure["peak_memory_kib"] / 1024)
        for _ in range(h.rounds()):
            h.settle()
            before = h.cpu_seconds(server.pid)[0]
            figure = h.bench("window", "--url", "ws://127.0.0.1:%d" % server.port, "--path", "/open/list")
            servers.append((h.cpu_seconds(server.pid)[0] - before) * 1e3)
            clients.append(figure["first_us"] / 1e3)
            memory.append(figure["peak_memory_kib"] / 1024)
            if figure["children"] != 50:
                raise RuntimeError("%d children" % figure["children"])
        whole = []
        for _ in range(h.rounds(3)):
            before = h.cpu_seconds(server.pid)[0]
            writer.request("GET", "/open/list.json")
            whole.append((h.cpu_seconds(server.pid)[0] - before) * 1e3)
    both = [a + b for a, b in zip(servers, clients)]
    print("Tree, the last 50 of 50,000 children, processor time to the first event (%s)" % h.machine())
    print("  server %s and client %s, together %s; bar 10 ms: %s" % (
        h.summary(servers, " ms"), h.summary(clients, " ms"), h.summary(both, " ms"), h.verdict(h.median(both) <= 10)))
    print("  peer: the server's time for the whole node %s; 50 children arrived each time" % h.summary(whole, " ms"))
    print("  memory of the client's process at its peak %s, with a window over 50 children %s; bar 1 MiB more: %s" % (
        h.summary(memory, " MiB"), h.summary(small, " MiB"), h.verdict(h.median(memory) - h.median(small) <= 1)))


# Write to acknowledgement

CLIENTS, WRITES = 64, 20_000


def writes():
    body = '{"topic":"t42","number":@N@,"text":"@X@' + h.PAD + '","sent":"@T@"}'
    served, store = [], []
    for _ in range(h.rounds(3)):
        with Serving() as server:
            options = ["--path", "/open/list.json"]
            h.write(server.port, 1000, body, CLIENTS, options)
            served.append(h.write(server.port, WRITES, body, CLIENTS, options))
        folder = tempfile.mkdtemp(prefix="martlet-bench-")
        try:
            store.append(h.bench("store", "--tree", "--data", os.path.join(folder, "a"), "--in-flight", CLIENTS,
                                 "--writes", WRITES))
        finally:
            shutil.rmtree(folder)
    rates = [WRITES / a["seconds"] for a in served]
    ratio = [a / b["per_second"] for a, b in zip(rates, store)]
    print("Tree, durable writes of four leaves under rules, %d clients (%s)" % (CLIENTS, h.machine()))
    print("  served %s a second, the store alone %s; ratio %s; bar 0.5: %s" % (
        h.summary(rates), h.summary([b["per_second"] for b in store]), h.summary(ratio),
        h.verdict(h.median(ratio) >= 0.5)))
    print("  every answer was good; %s" % h.generator([a["share"] for a in served]))


# Presence

LEASES = 5000


def hold(port):
    """The other process: clients that leave a write and stay until it is killed."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    peers = []
    for number in range(LEASES):
        peer = Peer(port, "/.ws?v=5&ns=bench&x=1&c=lease%d" % number)
        peer.message()
        peer.answer(peer.send("p", {"p": "/open/here/%d" % number, "d": True}))
        # A second in which the client may come back.
        peer.answer(peer.send("o", {"p": "/open/here/%d" % number, "d": None, "x": {"g": 1000}}))
        peers.append(peer)
    print("ready", flush=True)
    time.sleep(600)


def presence():
    commits, waits, spans = [], [], []
    for _ in range(h.rounds(3)):
        with Serving() as server:
            writer = Writer(server.port)
            holder = h.Process([sys.executable, os.path.abspath(__file__), "hold", str(server.port)])
            try:
                holder.line("ready", 300)
                watcher = Writer(server.port)
                h.settle()
                before = server.metrics()
                holder.process.send_signal(signal.SIGKILL)
                killed, worst, made = time.monotonic(), 0.0, 0
                while True:
                    start = time.monotonic()
                    watcher.request("GET", "/open/other.json")
                    worst = max(worst, time.monotonic() - start)
                    if writer.request("GET", "/open/here/0.json") == b"null":
                        break
                    if time.monotonic() - killed > 60:
                        raise RuntimeError("the leases did not end")
                spans.append((time.monotonic() - killed) * 1e3)
                h.settle(1)
                if writer.request("GET", "/open/here.json") != b"null":
                    raise RuntimeError("some leases are left")
                after = server.metrics()
                commits.append(after["feed_batches_total"] - before["feed_batches_total"])
                waits.append(worst * 1e3)
            finally:
                holder.stop(signal.SIGKILL)
    print("Tree, %d clients that are lost at once (%s)" % (LEASES, h.machine()))
    print("  their leases ended in %s commits; bar 1: %s;  the longest wait of another client %s; bar 50 ms, in every round: %s" % (
        h.summary(commits), h.verdict(h.median(commits) == 1), h.summary(waits, " ms"),
        h.verdict(max(waits) <= 50)))
    print("  all were gone %s after the kill, checked" % h.summary(spans, " ms"))


# One leaf in the client's engine

def leaf():
    runs = [h.bench("tree") for _ in range(h.rounds(3))]
    sizes = [name for name in runs[0] if name.startswith("write_")]
    ratio = [r["ratio_percent"] / 100 for r in runs]
    print("Tree, one leaf written, shown and acknowledged in the client (%s)" % h.machine())
    print("  " + ", ".join("%s children %s" % (
        name[6:-3], h.summary([r[name] / 1e3 for r in runs], " us")) for name in sizes))
    print("  the dearest against the smallest %s; bar 3: %s; each write's events were counted" % (
        h.summary(ratio), h.verdict(h.median(ratio) <= 3)))


def main():
    if sys.argv[1:2] == ["hold"]:
        return hold(int(sys.argv[2]))
    h.tools()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    parts = {"fanout": fanout, "resume": resume, "window": window, "writes": writes, "presence": presence, "leaf": leaf}
    for name in sys.argv[1:] or parts:
        parts[name]()
    print("The others of the tree's promises are tests: 1,000 increments over cut sockets (ExactlyOnceTests), rows read by a")
    print("window (TreeStoreTests, TreeIndexTests), one commit of leases (TreeDeferredTests), bytes of a resume (ResumeTests).")


if __name__ == "__main__":
    main()
