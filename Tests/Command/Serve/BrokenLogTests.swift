import Foundation
import Testing

/// A server whose standard streams cannot be written, as a process of its own: it serves on, and SIGTERM ends it.
@Suite(.serialized, .timeLimit(.minutes(3))) struct BrokenLogTests {
  /// Starts the server as `$command` says, sends it peers that break rules (each of them is an entry of the log), asks
  /// it something, ends it with SIGTERM. `$1` is the port.
  private static let script = #"""
    echo 'type T @model { id: ID! }' > s.graphql
    serve="martlet serve s.graphql --memory --dev --port $PORT --log-level debug"
    start
    pid=$!
    trap 'kill -9 $pid 2>/dev/null; cat err 2>/dev/null' EXIT
    martlet query 127.0.0.1:$PORT '{ listTS { items { id } } }' --compact --wait 20s || exit 3
    python3 - $PORT <<'END' || exit 4
    import socket, sys
    for number in range(int("COUNT")):
        peer = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
        peer.sendall(b"GET /%d HTTP/9.9\r\n\r\n" % number)
        while peer.recv(4096): pass
        peer.close()
    END
    martlet query 127.0.0.1:$PORT '{ listTS { items { id } } }' --compact || exit 5
    kill -TERM $pid
    for i in $(seq 100); do kill -0 $pid 2>/dev/null || break; sleep 0.1; done
    if kill -0 $pid 2>/dev/null; then kill -9 $pid; exit 6; fi
    wait $pid
    echo "ended with $?"
    """#

  private static func run(_ start: String, peers: Int = 30) async throws -> ShellRun {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("log-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let port = try await TutorialTests.freePort()
    let script =
      "PORT=\(port)\nstart() {\n\(start)\n}\n" + Self.script.replacingOccurrences(of: "COUNT", with: "\(peers)")
    return try await ShellRun.bash(script, in: folder)
  }

  @Test(arguments: [
    ("a full disk", "$serve > /dev/full 2> /dev/full &"),
    ("closed descriptors", "$serve >&- 2>&- <&- &"),
    (
      "a file at the limit of its size",
      "(ulimit -f 1; head -c 1000 /dev/zero > small; exec $serve > /dev/null 2>> small) &"
    ),
    // The readers end at once; the pipes have none from then on.
    ("pipes without a reader", "exec 7> >(true) 8> >(true); sleep 0.3; $serve >&7 2>&8 & "),
  ])
  func `a log that cannot be written ends no server, and SIGTERM does`(name: String, start: String) async throws {
    let run = try await Self.run(start)
    #expect(run.status == 0, "\(name): \(run.status) \(run.errors) \(run.output)")
    #expect(run.output.hasSuffix("ended with 0\n"), "\(name): \(run.output)")
  }

  @Test func `an unread pipe stops neither the loop nor SIGTERM`() async throws {
    // The pipe is filled first, so that the log's first line blocks.
    let run = try await Self.run(
      """
      mkfifo unread
      exec 9<> unread
      python3 -c 'import os; os.set_blocking(9, False)
      try:
        while os.write(9, b"x" * 4096): pass
      except BlockingIOError: os.set_blocking(9, True)'
      $serve >&9 2>&9 &
      """, peers: 300)
    #expect(run.status == 0, "\(run.status) \(run.errors) \(run.output)")
    #expect(run.output.hasSuffix("ended with 0\n"), "\(run.output)")
  }

  @Test func `an audit log that cannot be written is reported in the server's log, and an unread pipe is refused`()
    async throws
  {
    let run = try await ServedScript.run(
      #"""
      key only > /dev/null
      serve --memory --access access.json --audit /dev/full
      for i in $(seq 8); do status; echo; done | sort -u
      wait_for grep -q 'An entry of the audit log is lost' err
      stop; echo "ended with $?"
      # Merged as every repeated entry is: five, and a count.
      test "$(grep -c 'An entry of the audit log is lost' err)" -le 6 && echo few
      mkfifo unread
      timeout 60 martlet serve s.graphql --memory --access access.json --port 0 --audit unread 2>&1; echo "unread $?"
      """#)
    #expect(run.status == 0, "\(run.status) \(run.errors) \(run.output)")
    #expect(run.output.hasPrefix("401\nended with 0\nfew\n"), "\(run.output)")
    #expect(run.output.contains("The audit log unread cannot be opened: "), "\(run.output)")
    #expect(run.output.hasSuffix("unread 74\n"), "\(run.output)")
  }

  @Test func `peers of one kind cost few lines, and the last one counts the others`() async throws {
    let run = try await Self.run("$serve > out 2> err &", peers: 200)
    #expect(run.status == 0, "\(run.errors)")
    let lines = run.output.split(separator: "\n").filter { $0.contains("broke a rule") }
    #expect(lines.count == 6, "\(lines.joined(separator: "\n"))")
    #expect(lines.last?.contains(#""repeated":"195""#) == true, "\(lines.last ?? "")")
    #expect(run.output.contains("The server has stopped."))
  }
}
