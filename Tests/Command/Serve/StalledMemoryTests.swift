import CMartletAllocationCounter
import Foundation
import Testing

/// P9 as processes: what subscribers cost that do not read, in resident memory, and what they get when they read again.
@Suite(.timeLimit(.minutes(3))) struct StalledMemoryTests {
  private static let script = #"""
    wait_for() { for i in $(seq 600); do "$@" && return; sleep 0.1; done; echo "no $*"; cat err; exit 9; }
    echo 'type Note @model { id: ID! text: String }' > s.graphql
    martlet serve s.graphql --memory --dev --port 0 --limit store.cacheBytes=2MiB --limit store.ringBytes=2MiB \
      --limit webSocket.pingInterval=10m --limit query.bytesOnLoop=16777216 > out 2> err & pid=$!
    trap 'kill -9 $pid 2>/dev/null' EXIT
    wait_for grep -q '^Serving' out
    port=$(sed -n 's/^Serving.*:\([0-9]*\)\/graphql$/\1/p' out)
    python3 - $port $pid <<'END' || { cat err; exit 4; }
    import http.client, json, socket, sys
    port, pid = int(sys.argv[1]), sys.argv[2]
    PEERS, ROUNDS, BATCH, SIZE = 30, 30, 20, 30000
    def resident():
        return int(next(l for l in open("/proc/%s/status" % pid) if l.startswith("VmRSS")).split()[1]) * 1024
    class Peer:
        def __init__(self):
            self.socket = socket.socket()
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            self.socket.connect(("127.0.0.1", port))
            self.socket.sendall(b"GET /graphql HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
                b"Sec-WebSocket-Protocol: graphql-transport-ws\r\n\r\n")
            self.stream = self.socket.makefile("rb")
            while self.stream.readline().strip(): pass
            self.send({"type": "connection_init", "payload": {"martlet": {"cursors": True}}})
            self.until("connection_ack")
            self.send({"id": "1", "type": "subscribe", "payload": {"query": "subscription { onCreateNote { id text } }"}})
            self.until("ready")
        def send(self, message):
            text = json.dumps(message).encode()
            self.socket.sendall((bytes([0x81, 0x80 | len(text)]) if len(text) < 126
                else bytes([0x81, 0xFE]) + len(text).to_bytes(2, "big")) + bytes(4) + text)
        def receive(self):
            head = self.stream.read(2)
            size = head[1] & 127
            if size == 126: size = int.from_bytes(self.stream.read(2), "big")
            elif size == 127: size = int.from_bytes(self.stream.read(8), "big")
            body = self.stream.read(size)
            return json.loads(body) if head[0] & 15 == 1 else {}
        def until(self, kind):
            while True:
                message = self.receive()
                if message.get("type") == kind: return message
    peers = [Peer() for _ in range(PEERS)]
    server = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    def write(round):
        inputs = [{"createNote": {"id": "%d-%d" % (round, n), "text": "x" * SIZE}} for n in range(BATCH)]
        server.request("POST", "/graphql", json.dumps({"query":
            "mutation($w: [ModelWriteInput!]!) { transaction(writes: $w) { __typename } }", "variables": {"w": inputs}}),
            {"Content-Type": "application/json"})
        answer = json.load(server.getresponse())
        if answer.get("errors"): sys.exit(str(answer)[:500])
    # What every write costs once, such as the database in memory, is there before it is measured.
    write(0)
    before = resident()
    for round in range(1, ROUNDS): write(round)
    grown = resident() - before
    owed = PEERS * ROUNDS * BATCH * SIZE
    # The database is in memory here: records, log and write-ahead log. With those, a third of what is owed is more than
    # the bounds of all peers.
    print("bounded" if grown < owed // 3 else "grown %d of %d owed" % (grown, owed))
    first = peers[0]
    ids = []
    while len(ids) < ROUNDS * BATCH:
        message = first.receive()
        if message.get("type") == "next": ids.append(message["payload"]["data"]["onCreateNote"]["id"])
    print("all" if ids == ["%d-%d" % (r, n) for r in range(ROUNDS) for n in range(BATCH)] else "other %s" % ids[:50])
    END
    kill -TERM $pid; wait $pid; echo "ended with $?"
    """#

  @Test(.enabled(if: martlet_allocations_are_counted(), "a sanitizer keeps what is freed for a while"))
  func `P9: stalled subscribers cost bounded resident memory, and get everything when they read again`() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("stalled-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let run = try await ShellRun.bash(Self.script, in: folder)
    #expect(run.status == 0, "\(run.status) \(run.errors) \(run.output)")
    #expect(run.output == "bounded\nall\nended with 0\n", "\(run.output) \(run.errors.suffix(500))")
  }
}
