internal import MartletGraphQLWire
internal import MartletRuntime
internal import MartletVocabulary

/// A session on an event stream that operations share, as requests about it see it. Confined to its loop.
protocol SharedStreamSession: AnyObject {
  func startShared(_ operation: StreamRegistry.Waiting) -> SharedStreamMachine.Admission
  func stopShared(_ id: OperationID)
  /// The owner has shown newer credentials.
  func renew(_ caller: Caller)
}

/// The event streams that several operations share, by their tokens: on which loop each is, or what waits for it to be
/// opened. Shared by all loops, as the requests of one client come over several connections; looked at once a request,
/// never for an event.
final class StreamRegistry: Sendable {
  /// An operation that came before its stream was opened.
  struct Waiting: Sendable {
    var id: OperationID
    var request: RequestPayload
    /// Changes committed after this cursor reach a subscription.
    var since: Cursor
  }

  private struct Stream: Sendable {
    /// The caller that reserved it. Its token alone opens it; what else is done with it needs the same caller.
    var owner: Caller
    var place: Place
  }

  private enum Place: Sendable {
    case reserved([Waiting])
    case open(LoopBound<any SharedStreamSession>)
  }

  /// What a claim to a stream comes to.
  enum Claim: Sendable {
    /// The caller owns it. An open stream comes with its session.
    case granted(LoopBound<any SharedStreamSession>?)
    case unknown
    /// Another caller reserved it.
    case otherCaller
  }

  /// What opening a stream comes to.
  enum Opening: Sendable {
    case opened([Waiting], Caller)
    case unknown
    case alreadyOpen
  }

  /// Where an operation goes.
  enum Destination: Sendable {
    /// It runs when the stream is opened.
    case waits
    case open(LoopBound<any SharedStreamSession>)
    case unknown
    case idInUse
    case tooMany
  }

  private struct State {
    var streams: [String: Stream] = [:]
    var reserved = 0
    var waiting = 0
  }

  private let state = Lock(State())
  private let limits: ServerLimits

  init(_ limits: ServerLimits) {
    self.limits = limits
  }

  /// Keeps a place for a stream; false when too many are kept.
  func reserve(_ token: String, for owner: Caller) -> Bool {
    state.withLock { state in
      guard state.reserved < limits.http.reservedStreams, state.streams[token] == nil else { return false }
      state.streams[token] = Stream(owner: owner, place: .reserved([]))
      state.reserved += 1
      return true
    }
  }

  func isKnown(_ token: String) -> Bool { state.withLock { $0.streams[token] != nil } }

  /// Whether a stream waits to be opened.
  func isReserved(_ token: String) -> Bool {
    state.withLock { if case .reserved? = $0.streams[token]?.place { true } else { false } }
  }

  /// Whether a caller owns a stream.
  func claim(_ token: String, by caller: Caller) -> Claim {
    state.withLock { state in
      guard let stream = state.streams[token] else { return .unknown }
      guard stream.owner.isSame(as: caller) else { return .otherCaller }
      if case .open(let session) = stream.place { return .granted(session) }
      return .granted(nil)
    }
  }

  /// The reservation's time is over.
  func expire(_ token: String) {
    state.withLock { state in
      guard case .reserved(let waiting)? = state.streams[token]?.place else { return }
      state.streams[token] = nil
      state.reserved -= 1
      state.waiting -= waiting.count
    }
  }

  /// Opens the stream with `session`, which takes its operations from then on, those that wait first.
  func open(_ token: String, _ session: LoopBound<any SharedStreamSession>) -> Opening {
    state.withLock { state in
      guard let stream = state.streams[token] else { return .unknown }
      switch stream.place {
      case .open: return .alreadyOpen
      case .reserved(let waiting):
        state.streams[token]?.place = .open(session)
        state.reserved -= 1
        state.waiting -= waiting.count
        return .opened(waiting, stream.owner)
      }
    }
  }

  /// An operation has come for a stream.
  func post(_ token: String, _ operation: Waiting) -> Destination {
    state.withLock { state in
      switch state.streams[token]?.place {
      case nil: return .unknown
      case .open(let session): return .open(session)
      case .reserved(var waiting):
        guard !waiting.contains(where: { $0.id == operation.id }) else { return .idInUse }
        guard waiting.count < limits.session.operationsPerConnection, state.waiting < limits.http.reservedStreams else {
          return .tooMany
        }
        waiting.append(operation)
        state.streams[token]?.place = .reserved(waiting)
        state.waiting += 1
        return .waits
      }
    }
  }

  /// An operation is no longer wanted. One that waits is dropped here.
  func drop(_ token: String, _ id: OperationID) -> Destination {
    state.withLock { state in
      switch state.streams[token]?.place {
      case nil: return .unknown
      case .open(let session): return .open(session)
      case .reserved(let waiting):
        let left = waiting.filter { $0.id != id }
        state.streams[token]?.place = .reserved(left)
        state.waiting -= waiting.count - left.count
        return .waits
      }
    }
  }

  /// The stream is over.
  func close(_ token: String) {
    state.withLock { state in
      guard case .open? = state.streams[token]?.place else { return }
      state.streams[token] = nil
    }
  }
}
