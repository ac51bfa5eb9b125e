import Foundation
import Testing

/// `docs/guides/limits.md` is generated from the declarations of `ServerLimits` and their comments, and so is the table
/// of `docs/SECURITY.md`. Write both anew with
/// `MARTLET_WRITE_LIMITS=1 swift test --disable-xctest --filter LimitTableTests`.
@Suite struct LimitTableTests {
  private static let folder = "Sources/Server/Configuration/Limits"
  private static let guide = "docs/guides/limits.md"
  private static let security = "docs/SECURITY.md"
  private static let marks = ("<!-- limits: begin -->\n", "<!-- limits: end -->")

  /// The groups in their order, with the file that declares each.
  private static let groups = [
    ("http", "HTTPGroup"), ("webSocket", "WebSocketGroup"), ("session", "SessionGroup"),
    ("callers", "CallerGroup"), ("query", "QueryGroup"), ("store", "StoreGroup"), ("tree", "TreeGroup"),
    ("channels", "ChannelGroup"), ("access", "AccessGroup"), ("log", "LogGroup"),
    ("tracing", "TracingGroup"),
    ("console", "ConsoleGroup"),
  ]

  /// The bounds that hold for clients before their credentials are accepted, or whose credentials are not.
  private static let metByStrangers = [
    "http.connections", "http.connectionsPerHost", "http.acceptsPerTurn", "http.acceptsPerSecond", "http.backlog",
    "http.exhaustedPause", "http.handshakeTime", "http.proxyHeaderBytes", "http.handshakesPerTurn",
    "http.closingsPerTurn", "http.tcpKeepAlive",
    "http.requestLineBytes", "http.headerBytes", "http.headerFields", "http.bodyBytes", "http.uploadBytes",
    "http.refusedBodyBytes", "http.chunkLineBytes", "http.pipelinedBytes", "http.requestTimeout", "http.idleTimeout",
    "http.loopLag", "http.eventsPerTurn", "http.jobsPerTurn", "http.messagesPerTurn", "http.readBytes",
    "http.pendingBytes", "http.flushTime", "http.lingerTime", "http.shutdownLinger", "webSocket.messageBytes",
    "webSocket.strangerMessageBytes", "webSocket.messageDepth", "webSocket.heldBytes",
    "webSocket.connectionInitTimeout", "webSocket.malformedMessages", "webSocket.initialisations",
    "webSocket.pingInterval", "webSocket.pongTimeout", "webSocket.closeTimeout", "webSocket.appSyncInitGrace",
    "callers.connectionsPerAddress", "callers.operationsPerSecondPerConnection",
    "callers.operationsPerSecondPerAddress", "callers.bytesPerSecondPerConnection", "callers.bytesPerSecondPerAddress",
    "callers.burst", "callers.counted", "callers.refusedPause", "callers.messagesPerTurn", "tree.writeBytes",
    "tree.strangerMessageBytes", "tree.waitingMessages", "tree.messageDepth", "tree.depth", "tree.keyBytes",
    "tree.listens", "tree.openRequests", "tree.pendingBytes", "access.tokenBytes", "access.tokenHeaderBytes",
    "access.tokenDepth", "access.signatureBytes", "access.signatureFields",
    "access.keysTried", "access.unknownKeyPause", "access.keySetWaiters",
    "access.authorizerRequests", "access.authorizerQueue", "access.authorizerWaiters", "access.authorizerAnswers",
    "access.authorizerAnswerBytes", "access.keySetTimeout", "channels.definitionBytes", "log.queuedEntries",
    "log.repeats", "log.repeatInterval", "log.kinds", "log.valueBytes",
  ]

  /// Groups, and limits of the other groups, that bound only what accepted callers and the server itself do. A new
  /// limit must be in one of the two lists.
  private static let metByCallersAlone: Set = [
    "session", "query", "store", "channels", "console", "tracing", "http.bodyDepth", "http.uploadedFiles",
    "http.formFields", "http.operationsPerRequest", "http.streamHeartbeatInterval", "http.reservedStreams",
    "http.streamReservationTimeout", "http.unreadTimeout", "http.pooledBufferBytes", "http.poolBytes",
    "http.shutdownGrace", "webSocket.compressionThreshold", "webSocket.keepAliveInterval",
    "webSocket.appSyncKeepAliveInterval", "webSocket.appSyncConnectionTimeout", "webSocket.appSyncLifetime",
    "callers.connectionsPerIdentity", "callers.subscriptionsPerIdentity", "callers.subscriptionsPerAddress",
    "callers.operationsPerSecondPerIdentity", "callers.bytesPerSecondPerIdentity", "callers.costPerSecondPerConnection",
    "callers.costPerSecondPerIdentity", "callers.costPerSecondPerAddress", "tree.estimatedLeaves", "tree.textBytes",
    "tree.children", "tree.mergePaths", "tree.entryBytes", "tree.nodeLeaves", "tree.frameBytes", "tree.messageBytes",
    "tree.deferredWrites", "tree.windowKeys", "tree.deferredBytes", "tree.resumeGrace", "tree.longestGrace",
    "tree.leaseStep",
    "tree.expiriesAtOnce", "tree.partBytes", "tree.readsAtOnce", "tree.keepAlive", "tree.resumeChanges",
    "tree.namespaces", "tree.namespaceBytes", "tree.ruleFileBytes", "tree.ruleLevels", "tree.ruleProblems",
    "tree.ruleExpressionBytes", "tree.ruleExpressionDepth", "tree.rulePatternInstructions", "tree.ruleSteps",
    "access.rememberedTokens", "access.keySetAge", "access.leastKeySetAge", "access.greatestKeySetAge",
    "access.keySetOutage", "access.firstKeySetPause", "access.greatestKeySetPause", "access.discoveryBytes",
    "access.keySetBytes", "access.keySetKeys", "access.keyBits", "log.flushTime",
  ]

  struct Limit: Equatable {
    let name: String
    let value: String
    let reason: String
  }

  /// The properties of one file with their comments.
  static func limits(in text: String, group: String) -> [Limit] {
    var found: [Limit] = []
    var comment: [Substring] = []
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      let text = line.drop { $0 == " " }
      if text.hasPrefix("/// ") {
        comment.append(text.dropFirst(4))
        continue
      }
      if text.hasPrefix("public var ") {
        let words = text.dropFirst(11)
        let name = String(words.prefix { $0.isLetter || $0.isNumber })
        let value = words.range(of: " = ").map { String(words[$0.upperBound...]) } ?? "nil"
        found.append(
          Limit(
            name: "\(group).\(name)", value: shown(value, of: name), reason: comment.joined(separator: " ")))
      }
      comment = []
    }
    return found
  }

  /// A default as people read it.
  static func shown(_ value: String, of name: String) -> String {
    if value == "nil" { return "none" }
    if value == ".zero" { return "0 s" }
    if let open = value.firstIndex(of: "("), value.hasPrefix("."), let number = Int(digits(value[open...])) {
      let unit = value[value.index(after: value.startIndex)..<open]
      guard unit == "seconds" else { return "\(number) ms" }
      for (seconds, name) in [(86_400, "d"), (3_600, "h"), (60, "min")] where number % seconds == 0 && number > 0 {
        return "\(number / seconds) \(name)"
      }
      return "\(number) s"
    }
    guard let number = Int(digits(value[...])) else { return value }
    if name.hasSuffix("Bytes") {
      for (bytes, unit) in [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")]
      where number % bytes == 0 && number > 0 {
        return "\(number / bytes) \(unit)"
      }
      return "\(number) bytes"
    }
    return grouped(number)
  }

  private static func digits(_ text: Substring) -> String { String(text.filter(\.isNumber)) }

  /// `19,000`.
  private static func grouped(_ number: Int) -> String {
    var text = String(number)
    var place = text.count - 3
    while place > 0 {
      text.insert(",", at: text.index(text.startIndex, offsetBy: place))
      place -= 3
    }
    return text
  }

  private static func table(_ limits: [Limit]) -> String {
    "| name | default | what it bounds, and why |\n| --- | --- | --- |\n"
      + limits.map { "| `\($0.name)` | \($0.value) | \($0.reason) |\n" }.joined()
  }

  private static func all() throws -> [(group: String, about: String, limits: [Limit])] {
    let root = try Repository.current.text("\(folder)/ServerLimits.swift")
    return try groups.map { group, file in
      let about = try #require(limits(in: root, group: "").first { $0.name == ".\(group)" }).reason
      return (group, about, limits(in: try Repository.current.text("\(folder)/\(file).swift"), group: group))
    }
  }

  private static func page() throws -> String {
    var page = """
      # Limits

      Every bound of a server, with its default and reason. In a program they are properties of `ServerConfiguration.limits`:

      ```swift
      configuration.limits.http.bodyBytes = 4 * 1_048_576
      ```

      `martlet serve --limit NAME=VALUE` sets the same bounds, as often as it is given. Numbers of bytes may have a unit
      (`64KiB`, `4MiB`, `1GiB`), durations have one (`200ms`, `30s`, `5m`, `2h`, `7d`), and bounds that may be left out take `none`:

      ```text
      martlet serve schema.graphql --data data --dev --limit http.bodyBytes=4MiB --limit webSocket.appSyncLifetime=none
      ```

      `--limits FILE` reads them from a JSON file with the same names. A value is a number, a text as above, or `null` for `none`; what
      `--limit` and `--retention` set comes after the file:

      ```json
      {
        "http": {"bodyBytes": "4MiB", "connections": 500},
        "webSocket": {"appSyncLifetime": null, "keepAliveInterval": "10s"}
      }
      ```

      A name or value that is wrong on the command line ends the command with 64, one in a file with 78 and its line and column
      (`limits.json:2:12: There is no limit 'http.bodyByte'. Did you mean http.bodyBytes?`). The file is read once, at the start: SIGHUP does not
      read it again. This page is generated from the comments in `\(folder)`; `Tests/House/LimitTableTests.swift` checks it.

      Two kinds of numbers are not here. Some belong to a format or service that is spoken and cannot be larger on one side: the 4,096 bytes of a
      push message, the 64 of a collapse key and the four weeks it may wait (APNs, FCM), the 128 characters of a user's name in the Realtime
      Database, 125 bytes of a WebSocket's control frame. Others are the size of a step and refuse nothing: rows of one SQL statement, bytes of one
      read of a file.

      ## A complete file

      ```swift
      \(try Repository.current.text("Tests/Guides/SetLimits.swift"))```

      """
    for group in try all() {
      page += "\n## \(group.group)\n\n\(group.about)\n\n" + table(group.limits)
    }
    return page
  }

  private static var writes: Bool { ProcessInfo.processInfo.environment["MARTLET_WRITE_LIMITS"] != nil }

  private static func write(_ text: String, _ file: String) throws {
    try text.write(to: Repository.current.root.appendingPathComponent(file), atomically: true, encoding: .utf8)
  }

  @Test func `the guide's table of limits is the one the code gives`() throws {
    let page = try Self.page()
    if Self.writes { try Self.write(page, Self.guide) }
    #expect(try Repository.current.text(Self.guide) == page)
  }

  @Test func `the bounds that strangers meet are in the security page with the code's defaults`() throws {
    let limits = try Self.all().flatMap(\.limits)
    let met = try Self.metByStrangers.map { name in
      try #require(limits.first { $0.name == name }, "\(name) is not a limit")
    }
    var text = try Repository.current.text(Self.security)
    let begin = try #require(text.range(of: Self.marks.0))
    let end = try #require(text.range(of: Self.marks.1, range: begin.upperBound..<text.endIndex))
    let table = Self.table(met)
    let present = String(text[begin.upperBound..<end.lowerBound])
    if Self.writes {
      text.replaceSubrange(begin.upperBound..<end.lowerBound, with: table)
      try Self.write(text, Self.security)
    } else {
      #expect(present == table)
    }
  }

  @Test func `every limit is known to be met by strangers or not`() throws {
    let known = Set(Self.metByStrangers).union(Self.metByCallersAlone)
    var unknown: [String] = []
    for (group, _, limits) in try Self.all() where !known.contains(group) {
      unknown += limits.map(\.name).filter { !known.contains($0) }
    }
    #expect(unknown == [], "add each to metByStrangers or to metByCallersAlone")
    let names = Set(try Self.all().flatMap { [$0.group] + $0.limits.map(\.name) })
    #expect(known.subtracting(names) == [])
  }

  @Test func `the lengths by which endpoints refuse requests at their heads are bounds that strangers meet`() throws {
    // A declared length is judged before the credentials are.
    var names: Set<String> = []
    for file in Repository.current.files(under: "Sources/Server", extensions: ["swift"]) {
      for line in file.lines where line.contains("bodyBytes") {
        names.formUnion(line.matches(of: /node\.limits\.(\w+\.\w+)/).map { String($0.1) })
      }
    }
    #expect(names.isSuperset(of: ["http.bodyBytes", "http.uploadBytes", "tree.writeBytes"]), "\(names)")
    #expect(names.subtracting(Self.metByStrangers) == [], "add each to metByStrangers")
  }

  @Test func `every limit that can be set by name is in the table, and the other way round`() throws {
    let text = try Repository.current.text("\(Self.folder)/LimitNames.swift")
    let settable = Set(
      text.split(separator: "\"", omittingEmptySubsequences: false).enumerated().filter { $0.offset % 2 == 1 }
        .map { String($0.element) }.filter { $0.contains(".") && !$0.contains(" ") })
    #expect(Set(try Self.all().flatMap(\.limits).map(\.name)) == settable)
  }

  @Test func `every limit has a reason`() throws {
    for limit in try Self.all().flatMap(\.limits) { #expect(limit.reason.count > 20, "\(limit.name)") }
  }

  @Test(arguments: [
    ("19_000", "connections", "19,000"), ("1_048_576", "bodyBytes", "1 MiB"), ("100", "idBytes", "100 bytes"),
    ("0", "bodyBytes", "0 bytes"), (".seconds(75)", "idle", "75 s"), (".seconds(604_800)", "age", "7 d"),
    (".milliseconds(250)", "grace", "250 ms"), ("nil", "x", "none"), ("1_000_000", "items", "1,000,000"),
  ])
  func `defaults are shown as people read them`(value: String, name: String, expected: String) {
    #expect(Self.shown(value, of: name) == expected)
  }

  @Test func `a property is read with its comment`() {
    let text = """
        // MARK: Bytes

        /// Bytes of one body.
        /// Long.
        public var bodyBytes = 2_048
        public var other: Duration?
      """
    #expect(
      Self.limits(in: text, group: "http") == [
        Limit(name: "http.bodyBytes", value: "2 KiB", reason: "Bytes of one body. Long."),
        Limit(name: "http.other", value: "none", reason: ""),
      ])
  }
}
