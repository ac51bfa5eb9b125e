/// One step of the chain every operation passes, whatever transport carries it: it may change the request, answer it by
/// itself, ask again, or look at the answer. Of a subscription it may change the request, and sees what becomes of it.
///
///     struct Language: Interceptor {
///       func send(_ request: OperationRequest, next: Next) async throws -> OperationPayload {
///         var request = request
///         request.headers.append((name: "Accept-Language", value: "de"))
///         return try await next(request)
///       }
///     }
public protocol Interceptor: Sendable {
  /// The rest of the chain, the network at its end. May be called more than once.
  typealias Next = @Sendable (OperationRequest) async throws -> OperationPayload

  /// A query or a mutation passes. The default passes it on.
  func send(_ request: OperationRequest, next: Next) async throws -> OperationPayload

  /// A part of an answer arrived (`@defer`, `@stream`); the innermost interceptor is called first. Throwing ends the
  /// operation. The default does nothing.
  func received(_ part: OperationPart, of request: OperationRequest) throws

  /// A subscription is about to start. What this answers is what starts; throwing keeps it from starting. The default
  /// leaves it as it is.
  func subscribe(_ request: OperationRequest) throws -> OperationRequest

  /// A subscription that passed has an event, a gap, or another state: whatever its transport is, in order, before its
  /// consumer gets it; the innermost interceptor first. It observes and cannot change them. Called on the
  /// transport's thread, or on the one that cancels, so it must not wait. The default does nothing.
  func received(_ news: SubscriptionNews, of request: OperationRequest)
}

extension Interceptor {
  /// Passes the operation on.
  public func send(_ request: OperationRequest, next: Next) async throws -> OperationPayload {
    try await next(request)
  }

  /// Does nothing.
  public func received(_ part: OperationPart, of request: OperationRequest) throws {}

  /// Leaves the subscription as it is.
  public func subscribe(_ request: OperationRequest) throws -> OperationRequest { request }

  /// Does nothing.
  public func received(_ news: SubscriptionNews, of request: OperationRequest) {}
}

/// Says which interceptors an operation passes, the outermost first.
public protocol InterceptorProvider: Sendable {
  /// The chain of one operation.
  func interceptors(for request: OperationRequest) -> [any Interceptor]
}

/// Any transport with a chain of interceptors in front.
///
///     let transport = InterceptedTransport(WebSocketTransport(websocket: socket), provider: provider)
public struct InterceptedTransport: NetworkTransport {
  let transport: any NetworkTransport
  let provider: any InterceptorProvider

  /// Puts a provider's interceptors in front of a transport.
  public init(_ transport: any NetworkTransport, provider: any InterceptorProvider) {
    self.transport = transport
    self.provider = provider
  }

  /// Runs an operation through the chain.
  public func send(_ request: OperationRequest) async throws -> OperationPayload {
    try await run(request) { [transport] in try await transport.send($0) }
  }

  /// Starts a subscription as the chain leaves it, and reports to the chain what becomes of it.
  public func subscribe(_ request: OperationRequest, feeding feed: SubscriptionFeed) throws {
    let chain = provider.interceptors(for: request)
    var passed = request
    for interceptor in chain { passed = try interceptor.subscribe(passed) }
    let started = passed
    if !chain.isEmpty {
      feed.core.observe { news in
        for interceptor in chain.reversed() { interceptor.received(news, of: started) }
      }
    }
    try transport.subscribe(started, feeding: feed)
  }

  /// Shuts the transport down.
  public func shutDown() { transport.shutDown() }

  func run(
    _ request: OperationRequest, last: @escaping Interceptor.Next
  ) async throws -> OperationPayload {
    let chain = Array(provider.interceptors(for: request).reversed())
    var next: Interceptor.Next = { request in
      var told = request
      told.onPart = { part in
        for interceptor in chain { try interceptor.received(part, of: request) }
        try request.onPart?(part)
      }
      return try await last(told)
    }
    for interceptor in chain {
      let inner = next
      next = { try await interceptor.send($0, next: inner) }
    }
    return try await next(request)
  }
}

extension InterceptedTransport: UploadingNetworkTransport {
  /// Runs an operation with files through the chain.
  /// - Throws: `invalidRequest` when the transport cannot send files.
  public func upload(_ request: OperationRequest, files: [GraphQLFile]) async throws -> OperationPayload {
    guard let uploads = transport as? any UploadingNetworkTransport else {
      throw GraphQLClientError(.invalidRequest, "the transport cannot send files")
    }
    return try await run(request) { try await uploads.upload($0, files: files) }
  }
}

extension InterceptedTransport: ConnectedNetworkTransport {
  /// The life of the transport's connection; ends at once when it has none.
  public var connectionEvents: AsyncStream<ConnectionEvent> { transport.events }

  /// Pauses the transport's connection.
  public func pause() { transport.connected?.pause() }
  /// Resumes the transport's connection.
  public func resume() { transport.connected?.resume() }
  /// Starts an attempt that waits for its back-off.
  public func networkChanged() { transport.connected?.networkChanged() }
}
