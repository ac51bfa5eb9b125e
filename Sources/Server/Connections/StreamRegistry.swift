internal import MartletRuntime
internal import MartletVocabulary
internal import MartletWireProtocols

/// The event streams that several operations share, by their tokens: on which loop each is, or what waits for it to be
/// opened. Shared by all loops, as the requests of one client come over several connections; looked at once a request,
/// never for an event.
final class StreamRegistry: Sendable {
  /// An operation that came before its stream was opened.
  struct Waiting: Sendable {
    var id: OperationID
    var request: GraphQLRequest
    /// What is committed behind this place reaches a subscription.
    var since: Cursor
  }

  private enum Place: Sendable {
    case reserved([Waiting])
    case open(LoopBound<GraphQLSession>)
  }

  /// What opening a stream comes to.
  enum Opening: Sendable {
    case opened([Waiting])
    case unknown
    case alreadyOpen
  }

  /// Where an operation goes.
  enum Destination: Sendable {
    /// It runs when the stream is opened.
    case waits
    case open(LoopBound<GraphQLSession>)
    case unknown
    case idInUse
    case tooMany
  }

  private struct State {
    var places: [String: Place] = [:]
    var reserved = 0
    var waiting = 0
  }

  private let state = Lock(State())
  private let limits: ServerLimits

  init(_ limits: ServerLimits) {
    self.limits = limits
  }

  /// Keeps a place for a stream; false when too many are kept.
  func reserve(_ token: String) -> Bool {
    state.withLock { state in
      guard state.reserved < limits.reservedStreams, state.places[token] == nil else { return false }
      state.places[token] = .reserved([])
      state.reserved += 1
      return true
    }
  }

  func isKnown(_ token: String) -> Bool { state.withLock { $0.places[token] != nil } }

  /// The reservation's time is over.
  func expire(_ token: String) {
    state.withLock { state in
      guard case .reserved(let waiting)? = state.places[token] else { return }
      state.places[token] = nil
      state.reserved -= 1
      state.waiting -= waiting.count
    }
  }

  /// The stream is opened by `session`, which from now on takes its operations, those that wait first.
  func open(_ token: String, _ session: LoopBound<GraphQLSession>) -> Opening {
    state.withLock { state in
      switch state.places[token] {
      case nil: return .unknown
      case .open: return .alreadyOpen
      case .reserved(let waiting):
        state.places[token] = .open(session)
        state.reserved -= 1
        state.waiting -= waiting.count
        return .opened(waiting)
      }
    }
  }

  /// An operation has come for a stream.
  func post(_ token: String, _ operation: Waiting) -> Destination {
    state.withLock { state in
      switch state.places[token] {
      case nil: return .unknown
      case .open(let session): return .open(session)
      case .reserved(var waiting):
        guard !waiting.contains(where: { $0.id == operation.id }) else { return .idInUse }
        guard waiting.count < limits.operationsPerConnection, state.waiting < limits.reservedStreams else {
          return .tooMany
        }
        waiting.append(operation)
        state.places[token] = .reserved(waiting)
        state.waiting += 1
        return .waits
      }
    }
  }

  /// An operation is not wanted any more. One that waits is forgotten here.
  func drop(_ token: String, _ id: OperationID) -> Destination {
    state.withLock { state in
      switch state.places[token] {
      case nil: return .unknown
      case .open(let session): return .open(session)
      case .reserved(let waiting):
        let left = waiting.filter { $0.id != id }
        state.places[token] = .reserved(left)
        state.waiting -= waiting.count - left.count
        return .waits
      }
    }
  }

  /// The stream is over.
  func close(_ token: String) {
    state.withLock { state in
      guard case .open? = state.places[token] else { return }
      state.places[token] = nil
    }
  }
}
