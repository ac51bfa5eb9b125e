import Foundation
import Testing

/// Subscribers over HTTP whose server ends every response early, as processes.
@Suite(.timeLimit(.minutes(3))) struct EndedStreamTests {
  /// Answers every request with the bytes it is started with, ends the connection, and prints when requests came.
  private static let server = #"""
    import socket, sys, threading, time
    answer = sys.argv[1].encode().decode("unicode_escape").encode()
    listener = socket.socket(); listener.bind(("127.0.0.1", 0)); listener.listen(100)
    print(listener.getsockname()[1], flush=True)
    def serve(peer):
        head = b""
        while b"\r\n\r\n" not in head:
            piece = peer.recv(65536)
            if not piece: return
            head += piece
        print("request", time.monotonic(), flush=True)
        peer.sendall(answer)
        peer.close()
    while True: threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
    """#

  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let format: String
    let answer: String
  }

  private static let head = #"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"#
  private static let cases = [
    Case(testDescription: "a byte of a comment", format: "sse", answer: head + #"\r\n:"#),
    Case(testDescription: "comments alone", format: "sse", answer: head + #"\r\n:\n\n:\n\n"#),
    Case(
      testDescription: "a chunk of a byte", format: "sse",
      answer: head + #"Transfer-Encoding: chunked\r\n\r\n1\r\n:\r\n0\r\n\r\n"#),
    Case(
      testDescription: "a byte of a part", format: "multipart",
      answer: #"HTTP/1.1 200 OK\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n-"#),
    Case(
      testDescription: "empty parts", format: "multipart",
      answer: #"HTTP/1.1 200 OK\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\n\r\n{}\r\n"#),
  ]

  @Test(arguments: cases)
  func `a server that ends after the first bytes is asked again after a pause, and --attempts ends it`(
    ended: Case
  ) async throws {
    let run = try await ServedScript.run(
      #"""
      cat > server.py <<'END'
      \#(Self.server)
      END
      python3 server.py '\#(ended.answer)' > asked & pid=$!
      wait_for test -s asked
      timeout 100 martlet subscribe http://127.0.0.1:$(head -1 asked) 'subscription { a }' --protocol \#(ended.format)         --attempts 1 > events 2> err
      echo "ended with $?"
      sed -n 's/request //p' asked
      """#)
    let lines = run.lines
    #expect(lines.first == "ended with 69", "\(run.output) \(run.errors)")
    let times = lines.dropFirst().compactMap(Double.init)
    // The first, a further attempt, and one that looks for the cause.
    #expect((2...3).contains(times.count), "\(times)")
    // Half of the first delay, of half a second, is random.
    #expect(zip(times, times.dropFirst()).prefix(1).allSatisfy { $1 - $0 > 0.2 }, "\(times)")
  }
}
