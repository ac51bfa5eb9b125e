import MartletGraphQLClientWire
import MartletHTTPWire
import MartletJSON
import MartletRuntime

/// Which of a transport's requests are named by their hash. Usable from any thread.
final class PersistedRequests: Sendable {
  private struct State {
    /// The server said that it does not support them.
    var isOff = false
    var known: [String: PersistedOperation] = [:]
  }
  private let policy: PersistedOperationPolicy
  private let state = Lock(State())

  init(_ policy: PersistedOperationPolicy) {
    self.policy = policy
  }

  /// How a request's document is named; nil when it is sent as it is.
  func name(of request: RequestPayload, _ kind: ResendKind) -> PersistedOperation? {
    guard kind == .query || policy.mutations, !request.query.isEmpty else { return nil }
    let (isOff, known) = state.withLock { ($0.isOff, $0.known[request.query]) }
    if isOff { return nil }
    if let known { return known }
    let name = PersistedOperation(hash: SHA256.digest(Array(request.query.utf8)))
    state.withLock { state in
      // Documents that are built at run time would fill it; all are forgotten, and the usual ones soon known again.
      if state.known.count >= max(1, policy.documents) { state.known = [:] }
      state.known[request.query] = name
    }
    return name
  }

  /// Only for requests that are named by their hash.
  var longestURL: Int? { policy.queriesByGET ? policy.urlBytes : nil }

  func turnOff() {
    state.withLock { $0.isOff = true }
  }

  /// What an answer says against a hash. Only answers without data say it.
  static func refusal(in payload: OperationPayload) -> PersistedOperationError? {
    // An answer with data is mostly long, and not looked at.
    guard payload.bytes.count < 16_384, let tape = try? payload.tape, tape.root["data"]?.isNull != false else {
      return nil
    }
    return PersistedOperationError(errors: tape.root["errors"]?.value.array ?? [])
  }
}
