import MartletJSON
import MartletServer
import Testing

/// One caller's subscriptions over HTTP, as server-sent events or as parts of a multipart body: one response for each
/// kind of change of books, and what each must receive.
///
/// Confined to the test's task.
final class OracleStream {
  let caller: OracleCaller
  private let accept: String
  private let port: Int
  private var responses: [String: StreamedResponse] = [:]
  /// What was looked at of each response.
  private var read: [String: Int] = [:]
  private var live: Set<String> = []
  private var expected: [String: [OracleRecord]] = [:]
  private(set) var faults: [String] = []

  init(_ caller: OracleCaller, accept: String, _ port: Int) {
    (self.caller, self.accept, self.port) = (caller, accept, port)
  }

  private var headers: [(String, String)] { caller.credentials.map { [("Authorization", $0)] } ?? [] }

  /// Subscribes to what is not live. The server must refuse it exactly where no rule may allow it.
  func subscribe(_ rules: OracleRules) async throws {
    let mayListen = rules.book.rules.mayAllow("listen", caller)
    for kind in OracleListener.kinds where !live.contains(kind) {
      responses[kind]?.abort()
      let query = "subscription { on\(kind)Book { id title owner team secret } }"
      let response = try await StreamedResponse.open(query, accept: accept, headers: headers, port: port)
      responses[kind] = response
      read[kind] = 0
      live.insert(kind)
      _ = await response.heard { if case .head = $0 { true } else { false } }
      try await look()
      if live.contains(kind) != mayListen { faults.append("\(caller.name ?? "-") \(accept) may listen: \(mayListen)") }
    }
  }

  /// Other rules are in force: what no rule allows now must have ended.
  func rulesChanged(_ rules: OracleRules) async throws {
    for _ in 0..<100 where !live.isEmpty && !rules.book.rules.mayAllow("listen", caller) { try await look() }
    if !live.isEmpty, !rules.book.rules.mayAllow("listen", caller) {
      faults.append("\(caller.name ?? "-") \(accept) still listens")
    }
    try await subscribe(rules)
  }

  func note(_ change: OracleChange, _ rules: OracleRules) {
    guard change.model == "Book", live.contains(change.kind),
      let view = rules.book.view(change.record, "listen", caller)
    else { return }
    expected[change.kind, default: []].append(view)
  }

  /// Reads what the server has sent by now and compares it.
  func settle() async throws {
    var received: [String: [OracleRecord]] = [:]
    for _ in 0..<100 {
      for (kind, records) in try await look() { received[kind, default: []] += records }
      if OracleListener.kinds.allSatisfy({ received[$0, default: []].count >= expected[$0, default: []].count }) {
        break
      }
    }
    for kind in OracleListener.kinds where received[kind, default: []] != expected[kind, default: []] {
      faults.append(
        "\(caller.name ?? "-") \(accept) \(kind): expected \(expected[kind] ?? []), received \(received[kind] ?? [])")
    }
    expected = [:]
  }

  /// What has come since the last look. A question on another connection, answered by the same loop, comes after what
  /// was sent before it.
  @discardableResult
  private func look() async throws -> [String: [OracleRecord]] {
    _ = try await HTTPRequest.graphql("{ __typename }", port: port, headers: headers)
    var found: [String: [OracleRecord]] = [:]
    for (kind, response) in responses {
      let history = await response.soFar()
      for heard in history.dropFirst(read[kind] ?? 0) {
        switch heard {
        case .head(let status, _): if status >= 400 { live.remove(kind) }
        case .result(let result):
          if let record = result["data"]?["on\(kind)Book"]?.object {
            found[kind, default: []].append(OracleEvent.values(record))
          } else if result["errors"] != nil {
            live.remove(kind)
          }
        case .failed, .completed, .ended, .closed: live.remove(kind)
        case .event, .heartbeat: break
        }
      }
      read[kind] = history.count
    }
    return found
  }

  func close() { for response in responses.values { response.abort() } }
}
