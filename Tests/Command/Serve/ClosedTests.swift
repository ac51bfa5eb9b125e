import Foundation
import Testing

/// What a process serves that was started without `--dev`.
@Suite(.timeLimit(.minutes(3))) struct ClosedTests {
  private static func run(_ script: String) async throws -> ShellRun {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("closed-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try await ShellRun.bash(script, in: folder)
  }

  @Test func `without --dev and without an access file no server starts, whatever else is set`() async throws {
    let run = try await Self.run(
      #"""
      echo 'type Note @model @auth(rules: [{allow: public}]) { id: ID! }' > s.graphql
      echo '{"rules": {".read": true, ".write": true}}' > rules.json
      for more in '' '--rules rules.json' '--introspection' '--admin-port 0' '--audit audit.log' '--watch'; do
        timeout 60 martlet serve s.graphql --memory --port 0 $more > out 2> err
        echo "$? $(grep -c '^Serving' out) $(grep -c 'closed by default' err)"
      done
      for text in '{}' '{"keys":[]}' '{"guests":false}' ''; do
        echo "$text" > access.json
        timeout 60 martlet serve s.graphql --memory --port 0 --access access.json > out 2> err
        echo "$? $(grep -c '^Serving' out)"
      done
      """#)
    let lines = run.lines
    #expect(lines.prefix(6).allSatisfy { $0 == "78 0 1" }, "\(run.output)")
    #expect(lines.dropFirst(6).count == 4 && lines.dropFirst(6).allSatisfy { $0 == "78 0" }, "\(run.output)")
  }

  /// Each door of a server with one key, by a caller that has none: the status or the close code.
  private static let doors = #"""
    key=$(martlet access key create only --file access.json | grep -o 'martlet_[0-9a-f]*')
    echo 'type Note @model { id: ID! text: String }' > s.graphql
    echo '{"rules": {".read": true, ".write": true}}' > rules.json
    martlet serve s.graphql --memory --access access.json --rules rules.json --audit audit.log --port 0 > out 2> err &
    pid=$!
    trap 'kill -9 $pid 2>/dev/null' EXIT
    for i in $(seq 600); do grep -q '^Serving' out && break; sleep 0.1; done
    port=$(sed -n 's/^Serving.*:\([0-9]*\)\/graphql$/\1/p' out)
    python3 - $port "$key" <<'END'
    import base64, json, os, socket, sys
    port, key = int(sys.argv[1]), sys.argv[2]

    def talk(request):
        with socket.create_connection(("127.0.0.1", port), 30) as link:
            link.sendall(request.encode())
            data = b""
            while b"\r\n" not in data:
                piece = link.recv(4096)
                if not piece:
                    break
                data += piece
            return data.split(b" ")[1].decode() if data else "closed"

    def http(method, path, body="", *fields):
        lines = [f"{method} {path} HTTP/1.1", f"Host: 127.0.0.1:{port}", "Connection: close", *fields]
        if body:
            lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
        return talk("\r\n".join(lines) + "\r\n\r\n" + body)

    def socket_door(path, protocol, *messages):
        """The close code of a WebSocket; the status where it is not upgraded."""
        with socket.create_connection(("127.0.0.1", port), 30) as link:
            nonce = base64.b64encode(os.urandom(16)).decode()
            field = f"Sec-WebSocket-Protocol: {protocol}\r\n" if protocol else ""
            link.sendall((f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                          f"Sec-WebSocket-Key: {nonce}\r\nSec-WebSocket-Version: 13\r\n{field}\r\n").encode())
            reader = link.makefile("rb")
            status = reader.readline().split(b" ")[1].decode()
            while reader.readline() not in (b"\r\n", b""):
                pass
            if status != "101":
                return status
            for message in messages:
                data, mask = message.encode(), os.urandom(4)
                head = bytes([0x81, 0x80 | len(data)]) if len(data) < 126 else bytes([0x81, 0xFE]) + len(data).to_bytes(2, "big")
                link.sendall(head + mask + bytes(byte ^ mask[at % 4] for at, byte in enumerate(data)))
            texts = []
            while True:
                start = reader.read(2)
                if len(start) < 2:
                    return "cut " + " ".join(texts)
                size = start[1] & 127
                if size == 126:
                    size = int.from_bytes(reader.read(2), "big")
                data = reader.read(size)
                if start[0] & 15 == 8:
                    return str(int.from_bytes(data[:2], "big"))
                if start[0] & 15 == 1:
                    text = data.decode()
                    if '"data"' in text and '"data":null' not in text:
                        return "data " + text
                    texts.append(text[:60])

    query = json.dumps({"query": "{ listNotes { items { id } } }"})
    write = json.dumps({"query": "mutation { createNote(input: {id: \"x\"}) { id } }"})
    live = json.dumps({"query": "subscription { onCreateNote { id } }"})
    stream = "Accept: text/event-stream"
    doors = {
        "query": http("POST", "/graphql", query), "get": http("GET", "/graphql?query=%7B__typename%7D"),
        "mutation": http("POST", "/graphql", write), "batch": http("POST", "/graphql", f"[{query},{write}]"),
        "sse": http("POST", "/graphql", live, stream), "stream": http("POST", "/graphql/stream", live, stream),
        "multipart": http("POST", "/graphql", live, "Accept: multipart/mixed;subscriptionSpec=1.0"),
        "reserve": http("PUT", "/graphql/stream"), "metrics": http("GET", "/metrics"), "tree": http("GET", "/.json"),
        "tree write": http("PUT", "/a.json", "1"), "tree stream": http("GET", "/a.json", "", stream),
        "wrong key": http("POST", "/graphql", query, "x-api-key: wrong"),
        "key in the query": http("POST", f"/graphql?x-api-key={key}", query),
        "cookie": http("POST", "/graphql", query, f"Cookie: x-api-key={key}"),
        "console": http("GET", "/console"), "health": http("GET", "/healthz"),
        "transport-ws": socket_door("/graphql", "graphql-transport-ws", '{"type":"connection_init"}'),
        "no init": socket_door("/graphql", "graphql-transport-ws", '{"id":"1","type":"subscribe","payload":%s}' % live),
        "ws": socket_door("/graphql", "graphql-ws", '{"type":"connection_init"}'),
        "ws before init": socket_door("/graphql", "graphql-ws", '{"id":"1","type":"start","payload":%s}' % live,
                                      '{"type":"connection_init"}'),
        "appsync": socket_door("/graphql/realtime", "graphql-ws", '{"type":"connection_init"}'),
    }
    for name, result in doors.items():
        print(f"{name}: {result}")
    accepted = http("POST", "/graphql", query, f"x-api-key: {key}")
    print(f"with the key: {accepted}")
    END
    grep -q "$key" out err audit.log && echo "the key was written"
    grep -c refused audit.log > /dev/null && echo "refusals are in the audit log"
    """#

  @Test func `a server with one key admits no caller without it, at any door`() async throws {
    let run = try await Self.run(Self.doors)
    var found: [String: String] = [:]
    for line in run.output.split(separator: "\n") {
      let parts = line.split(separator: ": ", maxSplits: 1).map(String.init)
      found[parts[0]] = parts.count == 2 ? parts[1] : ""
    }
    let refused = ["401", "403", "404", "1008", "1011", "4400", "4401", "4403", "1002"]
    for (name, result) in found where !["health", "with the key"].contains(name) && !name.contains("audit log") {
      #expect(refused.contains(result), "\(name): \(result)")
    }
    #expect(found.count == 24, "\(run.output) \(run.errors)")
    #expect(found["health"] == "200" && found["with the key"] == "200")
    #expect(found["refusals are in the audit log"] != nil, "\(run.output)")
  }
}
