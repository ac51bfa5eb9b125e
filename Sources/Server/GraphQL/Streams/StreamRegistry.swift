internal import MartletJSON
internal import MartletRuntime
internal import MartletVocabulary
internal import MartletWireProtocols

/// Whom a stream that operations share belongs to. Its token alone opens it; what else is done with it needs the
/// credentials it was reserved with.
struct StreamOwner: Sendable {
  /// What let it in.
  var grant: AccessControl.Grant?
  /// The name of the API key; nil where none is needed.
  var key: String? {
    switch grant {
    case .key(let key): key.name
    case .development, nil: nil
    }
  }
  /// What a program that is asked is shown beside the key; empty when none is asked.
  var shown: JSONObject
  /// Everything it is shown.
  var credentials: JSONObject
}

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

  private struct Stream: Sendable {
    var owner: StreamOwner
    var place: Place
  }

  private enum Place: Sendable {
    case reserved([Waiting])
    case open(LoopBound<GraphQLSession>)
  }

  /// What a claim to a stream comes to.
  enum Claim: Sendable {
    case granted
    case unknown
    /// It was reserved with another key.
    case otherKey
    /// It was reserved with other credentials for the program, which can say whether these are as good.
    case otherCredentials
  }

  /// What opening a stream comes to.
  enum Opening: Sendable {
    case opened([Waiting], StreamOwner)
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
  func reserve(_ token: String, for owner: StreamOwner) -> Bool {
    state.withLock { state in
      guard state.reserved < limits.reservedStreams, state.streams[token] == nil else { return false }
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

  /// Whether somebody may use a stream.
  func claim(_ token: String, by owner: StreamOwner) -> Claim {
    state.withLock { state in
      guard let stream = state.streams[token] else { return .unknown }
      guard stream.owner.key == owner.key else { return .otherKey }
      // Nothing has been shown to the program yet: whoever opens the stream shows it.
      if case .reserved = stream.place, stream.owner.shown.isEmpty { return .granted }
      return JSONValue.object(stream.owner.shown) == .object(owner.shown) ? .granted : .otherCredentials
    }
  }

  /// The program takes these credentials for those of the owner of an open stream: they have been renewed. Answers the
  /// stream.
  func renew(_ token: String, _ owner: StreamOwner) -> LoopBound<GraphQLSession>? {
    state.withLock { state in
      guard case .open(let session)? = state.streams[token]?.place else { return nil }
      state.streams[token]?.owner = owner
      return session
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

  /// The stream is opened by `session`, which from now on takes its operations, those that wait first.
  ///
  /// - Parameter opener: who opens it, whose it becomes if nothing was shown so far; nil for who has nothing but the token.
  func open(_ token: String, _ session: LoopBound<GraphQLSession>, by opener: StreamOwner?) -> Opening {
    state.withLock { state in
      guard let stream = state.streams[token] else { return .unknown }
      switch stream.place {
      case .open: return .alreadyOpen
      case .reserved(let waiting):
        let owner = opener.flatMap { stream.owner.shown.isEmpty ? $0 : nil } ?? stream.owner
        state.streams[token] = Stream(owner: owner, place: .open(session))
        state.reserved -= 1
        state.waiting -= waiting.count
        return .opened(waiting, owner)
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
        guard waiting.count < limits.operationsPerConnection, state.waiting < limits.reservedStreams else {
          return .tooMany
        }
        waiting.append(operation)
        state.streams[token]?.place = .reserved(waiting)
        state.waiting += 1
        return .waits
      }
    }
  }

  /// An operation is not wanted any more. One that waits is forgotten here.
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
