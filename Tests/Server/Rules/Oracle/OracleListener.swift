import MartletGraphQLWire
import MartletJSON
import MartletServer
import Testing

/// One caller's socket with a subscription for each kind of change of books, and what it must receive.
///
/// Confined to the test's task.
final class OracleListener {
  static let kinds = ["Create", "Update", "Delete"]
  private static let fields = "id title owner team secret"

  let caller: OracleCaller
  private let talk: Talk
  private let port: Int
  private var socket: RawSocket
  /// The subscriptions that live, by kind.
  private(set) var live: Set<String> = []
  private var cursors: [String: (cursor: String, view: String?)] = [:]
  private var expected: [OracleEvent] = []
  private var received: [OracleEvent] = []
  /// Changes while the caller was away; nil while it is connected.
  private(set) var missed: [OracleChange]?
  private var attempt = 0
  private(set) var faults: [String] = []

  init(_ caller: OracleCaller, _ talk: Talk, _ port: Int) async throws {
    (self.caller, self.talk, self.port) = (caller, talk, port)
    socket = try await Self.open(caller, talk, port)
  }

  private static func open(_ caller: OracleCaller, _ talk: Talk, _ port: Int) async throws -> RawSocket {
    let shown: JSONObject = caller.credentials.map { ["Authorization": .string($0)] } ?? [:]
    let socket = try await talk.open(port, authorization: shown.isEmpty ? ["host": "a"] : shown)
    socket.send(talk.initialise(shown))
    _ = try await socket.message(talk.dialect == .graphqlTransportWS ? "connection_ack" : "ka")
    return socket
  }

  var mayLeave: Bool { talk.dialect == .graphqlTransportWS && missed == nil && !live.isEmpty }

  // MARK: Subscribing

  /// Subscribes to what is not live. The server must refuse it exactly where no rule may allow it.
  func subscribe(_ rules: OracleRules) async throws {
    guard missed == nil else { return }
    attempt += 1
    let mayListen = rules.book.rules.mayAllow("listen", caller)
    for kind in Self.kinds where !live.contains(kind) {
      let id = "\(kind) \(attempt)"
      var extensions = JSONObject()
      if let place = cursors[kind] {
        var member: JSONObject = ["resume": .string(place.cursor)]
        if let view = place.view { member["view"] = .string(view) }
        extensions["martlet"] = .object(member)
      }
      socket.send(talk.start(id, "subscription { on\(kind)Book { \(Self.fields) } }", extensions: extensions))
      live.insert(kind)
      try await read(until: id)
      if live.contains(kind) != mayListen { faults.append("\(caller.name ?? "-") may listen: \(mayListen)") }
    }
  }

  /// Other rules are in force: what no rule allows now must have ended.
  func rulesChanged(_ rules: OracleRules) async throws {
    guard missed == nil else { return }
    try await settle()
    if !live.isEmpty, !rules.book.rules.mayAllow("listen", caller) {
      faults.append("\(caller.name ?? "-") is not told that it may no longer listen")
    }
    try await subscribe(rules)
  }

  // MARK: Changes

  func note(_ change: OracleChange, _ rules: OracleRules) {
    if missed != nil {
      missed?.append(change)
    } else {
      expect(change, rules)
    }
  }

  private func expect(_ change: OracleChange, _ rules: OracleRules) {
    guard change.model == "Book", live.contains(change.kind),
      let view = rules.book.view(change.record, "listen", caller)
    else { return }
    expected.append(OracleEvent(kind: change.kind, record: view))
  }

  func leave() async throws {
    try await settle()
    socket.abort()
    missed = []
  }

  func comeBack(_ rules: OracleRules) async throws {
    guard let changes = missed else { return }
    missed = nil
    socket = try await Self.open(caller, talk, port)
    let before = live
    live = []
    // What is replayed is judged by the rules at the resume.
    let mark = expected.count
    live = before
    for kind in Self.kinds where before.contains(kind) {
      for change in changes where change.kind == kind { expect(change, rules) }
    }
    live = []
    resumed = mark
    try await subscribe(rules)
    resumed = nil
    compare()
  }

  /// Where what a resume replays begins, while one is under way.
  private var resumed: Int?

  // MARK: Reading

  /// Reads everything that the server has sent by now.
  func settle() async throws {
    guard missed == nil else { return }
    // A write of the program itself is durable before its loops have been given its change.
    for _ in 0..<100 {
      try await readAll()
      if received.count >= expected.count { break }
    }
    compare()
  }

  private func readAll() async throws {
    if talk.dialect == .graphqlTransportWS {
      attempt += 1
      socket.send(talk.start("end \(attempt)", "{ __typename }"))
      try await read(until: "end \(attempt)")
    } else {
      socket.send(talk.initialise())
      try await read(until: nil)
    }
  }

  /// Reads up to the confirmation of an operation, or for nil up to an acknowledgement.
  private func read(until id: String?) async throws {
    if talk.dialect == .graphqlWS, id != nil { socket.send(talk.initialise()) }
    while true {
      let message = try await socket.message()
      let kind = message["id"]?.string?.split(separator: " ").first.map(String.init) ?? ""
      switch message["type"]?.string {
      case "next", "data":
        if message["id"]?.string == id, kind == "end" { return }
        take(message, kind)
      case "ready":
        remember(message, kind)
        if message["id"]?.string == id { return }
      case "start_ack": if message["id"]?.string == id { return }
      case "connection_ack": if id == nil || talk.dialect == .graphqlWS { return }
      case "gap":
        // What lay before it is lost to this subscription.
        let first = resumed ?? expected.count
        expected = Array(expected[..<first]) + expected[first...].filter { $0.kind != kind }
      case "error":
        live.remove(kind)
        cursors[kind] = nil
        if message["id"]?.string == id, talk.dialect != .graphqlWS { return }
      case "complete", "ka", "ping": break
      default: faults.append("unexpected: \(message)")
      }
    }
  }

  private func take(_ message: JSONValue, _ kind: String) {
    let record = message["payload"]?["data"]?["on\(kind)Book"]?.object
    received.append(OracleEvent(kind: kind, record: OracleEvent.values(record)))
    remember(message, kind)
  }

  private func remember(_ message: JSONValue, _ kind: String) {
    guard let cursor = message["cursor"]?.string, message["partial"]?.bool != true else { return }
    let view = message["type"] == "ready" ? message["view"]?.string : cursors[kind]?.view
    cursors[kind] = (cursor, view)
  }

  private func compare() {
    for kind in Self.kinds {
      let (want, got) = (expected.filter { $0.kind == kind }, received.filter { $0.kind == kind })
      guard want != got else { continue }
      faults.append("\(caller.name ?? "-") \(talk.dialect) \(kind): expected \(want), received \(got)")
    }
    (expected, received) = ([], [])
  }

  func close() { socket.abort() }
}

/// A change that was committed. For a deletion the record before it.
struct OracleChange {
  let model: String
  let kind: String
  let record: OracleRecord
}

/// What a subscription receives of a change.
struct OracleEvent: Equatable {
  let kind: String
  let record: OracleRecord

  /// The compared fields of a record in an answer.
  static func values(_ object: JSONObject?) -> OracleRecord {
    var values: OracleRecord = [:]
    for field in ["id", "title", "owner", "team", "secret"] { values[field] = object?[field] ?? .null }
    return values
  }
}
