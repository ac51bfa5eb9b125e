import MartletJSON
import MartletServer
import MartletStore
import Testing

/// P9: a reader that stops is bounded in what it costs, and loses nothing while the log reaches back.
@Suite(.serialized, .timeLimit(.minutes(2))) struct SlowReaderTests {
  private static let schema = "type Note @model { id: ID! text: String }"

  @Test func `P9: a stalled reader costs bounded memory, then catches up without loss`() async throws {
    let folder = try TemporaryFolder()
    try await Served.with(
      Self.schema,
      {
        $0.limits.store.ringBytes = 1 << 20
        $0.data = .folder(folder.path)
      }
    ) { server in
      let quick = try await RawSocket.session(port: server.port)
      quick.subscribe("1", "subscription { onCreateNote { id } }")
      _ = try await quick.message("ready")
      let slow = try await RawSocket.session(port: server.port)
      slow.subscribe("1", "subscription { onCreateNote { id text } }")
      _ = try await slow.message("ready")
      slow.setReading(false)
      slow.keepText()
      let text = String(repeating: "x", count: 20_000)
      // 20 MB for a reader that reads nothing.
      for block in 0..<50 {
        try await server.transaction { transaction in
          for number in 0..<20 {
            try transaction.create(
              "Note", ["id": .string("\(block * 20 + number)"), "text": .string(text)])
          }
        }
        for number in 0..<20 {
          let next = try await quick.message("next")
          #expect(next["payload"]?["data"]?["onCreateNote"]?["id"]?.string == "\(block * 20 + number)")
        }
      }
      let metrics = try await HTTPRequest.send("GET", "/metrics", port: server.port).text
      #expect(!metrics.contains("\nmartlet_feed_lagging_total 0\n"))
      // High-water mark, one step of catching up, and the transaction during which it was passed.
      let limits = ServerLimits()
      let pending = metrics.split(separator: "\n").first { $0.hasPrefix("martlet_pending_bytes ") }
      let bytes = try #require(pending?.split(separator: " ").last.flatMap { Int($0) })
      #expect(
        bytes > 0 && bytes < limits.session.highWaterBytes + limits.session.catchUpBytes + 21 * 20_100, "\(bytes)")
      slow.setReading(true)
      for number in 0..<1_000 {
        let text = try await slow.message().string ?? ""
        #expect(text.prefix(120).contains("\"id\":\"\(number)\","), "\(text.prefix(120))")
      }
      quick.abort()
      slow.abort()
    }
  }

  @Test func `P9, P4: a stalled reader whose gap falls out of retention gets one gap, then continues`() async throws {
    try await Served.with(
      Self.schema,
      {
        $0.limits.store.ringBytes = 100_000
        $0.limits.store.retention = .zero
        $0.limits.store.retentionBytes = 100_000
      }
    ) { server in
      let slow = try await RawSocket.session(port: server.port)
      slow.subscribe("1", "subscription { onCreateNote { id text } }")
      _ = try await slow.message("ready")
      slow.setReading(false)
      slow.keepText()
      let text = String(repeating: "x", count: 20_000)
      for number in 0..<1_000 {
        try await server.transaction {
          try $0.create("Note", ["id": .string("\(number)"), "text": .string(text)])
        }
      }
      server.node.store.maintain()
      slow.setReading(true)
      var expected = 0
      var gaps = 0
      while true {
        let text = try await slow.message().string ?? ""
        if text.contains("\"gap\"") {
          gaps += 1
          #expect(
            text.contains("\"reason\":\"retention\"") && text.contains("\"from\":\"") && text.contains("\"to\":\""))
          break
        }
        guard text.contains("\"next\"") else { continue }
        #expect(text.prefix(120).contains("\"id\":\"\(expected)\","))
        expected += 1
      }
      #expect(gaps == 1 && expected < 1_000)
      // On a busy machine there are several holes, each with its gap; a write that fell into one is made again.
      var attempt = 0
      var hasArrived = false
      while !hasArrived {
        attempt += 1
        let id = "last \(attempt)"
        try await server.transaction { try $0.create("Note", ["id": .string(id), "text": "last"]) }
        while true {
          let text = try await slow.message().string ?? ""
          hasArrived = text.contains("\"id\":\"last ")
          if hasArrived || text.contains("\"gap\"") { break }
        }
      }
      slow.abort()
    }
  }
}
