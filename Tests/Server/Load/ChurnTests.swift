import Foundation
import MartletJSON
import MartletServer
import MartletStore
import Testing

/// Connections, subscriptions and writes that come and go: what the process holds is flat at the end.
///
/// A few seconds in `make test`; `MARTLET_SOAK_MINUTES` makes it a soak.
@Suite(.serialized, .timeLimit(.minutes(60))) struct ChurnTests {
  private static let minutes =
    ProcessInfo.processInfo.environment["MARTLET_SOAK_MINUTES"].flatMap { Double($0) } ?? 0

  private struct Held {
    var resident: Int
    var descriptors: Int
    var files: Int
    var log: Int64
  }

  /// Bytes of this process in memory.
  private static func residentBytes() throws -> Int {
    let text = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
    let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    return pages * 4_096
  }

  private static func held(_ server: GraphQLServer, _ folder: String) throws -> Held {
    let files = FileManager.default
    let bytes = try files.contentsOfDirectory(atPath: folder).reduce(0) { sum, name in
      sum + ((try files.attributesOfItem(atPath: folder + "/" + name)[.size] as? Int) ?? 0)
    }
    return Held(
      resident: try residentBytes(),
      descriptors: try files.contentsOfDirectory(atPath: "/proc/self/fd").count, files: bytes,
      log: server.node.store.position.bytes)
  }

  @Test func `memory, descriptors, log and write-ahead log are flat after churn`() async throws {
    let folder = try TemporaryFolder()
    try await Served.with(
      "type Note @model { id: ID! text: String }",
      {
        $0.data = .folder(folder.path)
        $0.limits.store.retention = .zero
        $0.limits.store.retentionBytes = 200_000
        $0.limits.store.ringBytes = 200_000
      }
    ) { server in
      var round = 0
      func churn(_ rounds: Int) async throws {
        for _ in 0..<rounds {
          round += 1
          var sockets: [RawSocket] = []
          for number in 0..<5 {
            let socket = try await RawSocket.session(port: server.port, deflate: number == 0)
            socket.subscribe(
              "1", "subscription S($t: String) { onUpdateNote(filter: {text: {eq: $t}}) { id text } }",
              variables: ["t": .string("\(round)-\(number)")])
            _ = try await socket.message("ready")
            sockets.append(socket)
          }
          for number in 0..<5 {
            let answer = try await HTTPRequest.graphql(
              #"mutation { updateNote(input: {id: "n", text: "\#(round)-\#(number)"}) { id } }"#, port: server.port)
            #expect(answer.json["errors"] == nil)
            _ = try await sockets[number].message("next")
          }
          // Half of them leave politely.
          for (number, socket) in sockets.enumerated() {
            if number.isMultiple(of: 2) { socket.abort() } else { socket.close() }
          }
          for socket in sockets { _ = await socket.closeCode() }
        }
      }
      _ = try await HTTPRequest.graphql(#"mutation { createNote(input: {id: "n"}) { id } }"#, port: server.port)
      try await churn(80)
      server.node.store.maintain()
      let before = try Self.held(server, folder.path)
      let clock = ContinuousClock()
      let end = clock.now + .seconds(Self.minutes * 60)
      repeat { try await churn(80) } while clock.now < end
      server.node.store.maintain()
      let after = try Self.held(server, folder.path)
      #expect(after.resident - before.resident < 8_000_000, "\(before) \(after)")
      #expect(after.descriptors - before.descriptors < 20, "\(before) \(after)")
      #expect(after.log <= 400_000, "\(before) \(after)")
      #expect(after.files < before.files + 2_000_000, "\(before) \(after)")
      let metrics = try await HTTPRequest.send("GET", "/metrics", port: server.port).text
      #expect(metrics.contains("\nmartlet_subscriptions 0\n"))
      #expect(metrics.contains("\nmartlet_subscription_groups 0\n"))
    }
  }
}
