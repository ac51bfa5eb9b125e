/// Adds header fields to every request that goes by HTTP. An operation on a WebSocket has none: what a server is to
/// know there goes with the handshake (`ConnectionConfiguration.headers`, `Credentials`) or into `connectingPayload`.
public struct HeaderInterceptor: Interceptor {
  private let fields: @Sendable (OperationRequest) -> [(name: String, value: String)]

  /// Fields that may depend on the request.
  public init(_ fields: @escaping @Sendable (OperationRequest) -> [(name: String, value: String)]) {
    self.fields = fields
  }

  /// Adds the fields.
  public func send(_ request: OperationRequest, next: Next) async throws -> OperationPayload {
    try await next(with(request))
  }

  /// Adds the fields.
  public func subscribe(_ request: OperationRequest) throws -> OperationRequest { with(request) }

  private func with(_ request: OperationRequest) -> OperationRequest {
    var request = request
    request.headers += fields(request)
    return request
  }
}

/// Repeats a query when its connection was lost or no answer came. A mutation is never sent twice; subscriptions are
/// their transport's to make again.
public struct RetryInterceptor: Interceptor {
  /// How often a query is sent at most, the first time included.
  public var attempts: Int

  /// Three attempts, unless said otherwise.
  public init(attempts: Int = 3) {
    self.attempts = attempts
  }

  /// Sends a query until it is answered or the attempts are used up.
  public func send(_ request: OperationRequest, next: Next) async throws -> OperationPayload {
    guard request.kind == .query else { return try await next(request) }
    var attempt = 1
    while true {
      do {
        return try await next(request)
      } catch let error as GraphQLClientError where attempt < attempts && Self.mayPass(error.code) {
        attempt += 1
      }
    }
  }

  private static func mayPass(_ code: GraphQLClientError.Code) -> Bool {
    [.connectFailed, .connectionLost, .timeout].contains(code)
  }
}

/// Reports every operation: what was sent, and what came of it.
public struct ObservingInterceptor: Interceptor {
  /// What an operation did.
  public enum Event: Sendable {
    /// It is about to be sent.
    case sent(OperationRequest)
    /// A part of its answer has come (`@defer`, `@stream`).
    case part(OperationRequest, OperationPart)
    /// Its answer has come.
    case answered(OperationRequest, OperationPayload)
    /// It failed.
    case failed(OperationRequest, any Error)
    /// A subscription has an event, a gap or another state.
    case subscription(OperationRequest, SubscriptionNews)
  }

  private let tell: @Sendable (Event) -> Void

  /// Logs or counts what passes through it. Credentials are not part of a request here, header fields of interceptors
  /// are.
  public init(_ tell: @escaping @Sendable (Event) -> Void) {
    self.tell = tell
  }

  /// Reports the operation and its end.
  public func send(_ request: OperationRequest, next: Next) async throws -> OperationPayload {
    tell(.sent(request))
    do {
      let payload = try await next(request)
      tell(.answered(request, payload))
      return payload
    } catch {
      tell(.failed(request, error))
      throw error
    }
  }

  /// Reports the part.
  public func received(_ part: OperationPart, of request: OperationRequest) throws {
    tell(.part(request, part))
  }

  /// Reports a subscription that starts.
  public func subscribe(_ request: OperationRequest) throws -> OperationRequest {
    tell(.sent(request))
    return request
  }

  /// Reports the subscription's events and states.
  public func received(_ news: SubscriptionNews, of request: OperationRequest) {
    tell(.subscription(request, news))
  }
}
