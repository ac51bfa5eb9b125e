package import MartletJSON
internal import MartletRuntime
package import MartletWireProtocols

/// One client's way to one endpoint, over as many sockets as its subscriptions need, shared by all its operations; usable from any thread. What is asked of it is
/// done in order, on its loop.
package final class GraphQLConnection: Sendable {
  /// What lives on the loop.
  private struct Drivers {
    var socket: ConnectionGroup
    /// Nil where everything goes by the socket.
    var http: HTTPOperations?
    var writes: WriteNumbering

    func cancel(_ key: ObjectIdentifier) {
      socket.cancel(key)
      http?.cancel(key)
    }

    func start(
      _ request: GraphQLRequest, _ kind: OperationKind, _ extras: HTTPExtras,
      _ core: SubscriptionCore
    ) {
      var request = request
      var repetition = OperationRepetition.never
      switch kind {
      case .query, .mutation: break
      case .numberedMutation:
        request.extensions = RequestContinuity(write: writes.next()).added(to: request.extensions)
        repetition = .ifWritesAreAgreed
      }
      if let http {
        http.start(request, kind, extras, core)
      } else {
        socket.start(SocketOperation(request, .single(core, kind), repetition: repetition))
      }
    }
  }

  private let bound: LoopBound<Drivers>
  package let configuration: ConnectionConfiguration
  /// Queries and mutations go by HTTP, and so files can go with them.
  package let sendsFiles: Bool
  private let events = ConnectionEvents()
  private let persisted: PersistedRequests?

  package init(
    _ endpoint: GraphQLEndpoint, _ configuration: ConnectionConfiguration, environment: ClientEnvironment
  ) {
    self.configuration = configuration
    persisted = configuration.persistedOperations.map { PersistedRequests($0) }
    let knowledge = ServerKnowledge(remembersWrites: configuration.assumesWriteNumbers)
    let socket = ConnectionGroup(endpoint, configuration, environment, knowledge, events)
    var http: HTTPOperations?
    if configuration.requestTransport == .http, let bytes = environment.bytes {
      let pool = HTTPPool(
        endpoint.forRequests(configuration.dialect).address, over: bytes, on: environment.loop,
        spawner: environment.spawner, limits: configuration.poolLimits)
      http = HTTPOperations(
        HTTPOperation.Surroundings(
          endpoint: endpoint.forRequests(configuration.dialect), configuration: configuration, environment: environment,
          pool: pool, batcher: configuration.batching.map { HTTPBatcher($0, pool, on: environment.loop) },
          knowledge: knowledge))
    }
    sendsFiles = http != nil
    let drivers = Drivers(socket: socket, http: http, writes: WriteNumbering(environment.chance))
    bound = LoopBound(drivers, on: environment.loop)
  }

  deinit {
    shutDown()
  }

  private func onLoop(_ body: @escaping @Sendable (Drivers) -> Void) {
    let bound = self.bound
    bound.loop.execute { body(bound.value) }
  }

  /// The life of the socket, from now on.
  package var connectionEvents: AsyncStream<ConnectionEvent> { events.stream() }

  /// Starts a subscription; it is dialled for, sent, resumed and ended from here on.
  package func subscribe(_ request: GraphQLRequest, buffer: BufferPolicy? = nil) -> SubscriptionCore {
    let core = SubscriptionCore(buffer ?? configuration.buffer)
    subscribe(request, into: core)
    return core
  }

  /// Starts a subscription that feeds an existing core.
  ///
  /// - Parameter resubscribing: answers the variables it is sent again with after a lost connection.
  package func subscribe(
    _ request: GraphQLRequest, into core: SubscriptionCore, resubscribing: (@Sendable () -> JSONObject)? = nil
  ) {
    core.bound(by: configuration.buffer)
    let bound = self.bound
    let key = ObjectIdentifier(core)
    core.connect(
      onCancel: { bound.loop.execute { bound.value.cancel(key) } },
      onRoom: { bound.loop.execute { bound.value.socket.hasRoom(key) } })
    onLoop {
      $0.socket.start(
        SocketOperation(request, .subscription(core), repetition: .always, resubscribing: resubscribing))
    }
  }

  /// Sends a query or a mutation; answers the payload of its one result, put together when it comes in parts.
  ///
  /// - Parameter part: hears each part, in the task of the caller. What it throws ends the operation.
  /// - Throws: `GraphQLClientError`; for a mutation whose answer was lost and that may not be repeated,
  ///   `outcomeUnknown`.
  package func perform(
    _ request: GraphQLRequest, _ kind: OperationKind, _ extras: HTTPExtras = HTTPExtras(),
    part: (@Sendable (OperationPart) throws -> Void)? = nil
  ) async throws -> [UInt8] {
    guard extras.form == nil, let persisted, let name = persisted.name(of: request, kind) else {
      return try await once(request, kind, extras, part)
    }
    var named = request
    named.extensions["persistedQuery"] = name.extensionMember
    let document = named.query
    named.query = ""
    var first = extras
    first.longestURL = persisted.longestURL
    let refusal: PersistedOperationError
    do {
      let payload = try await once(named, kind, first, part)
      guard let said = PersistedRequests.refusal(in: payload) else { return payload }
      refusal = said
    } catch let error as GraphQLClientError {
      guard let said = PersistedOperationError(errors: error.errors) else { throw error }
      refusal = said
    }
    // Nothing was executed, so that a mutation may be sent as well. Once: a second refusal is the answer.
    switch refusal {
    case .notFound:
      named.query = document
      return try await once(named, kind, extras, part)
    case .notSupported, .hashMismatch, .malformedHash, .version:
      persisted.turnOff()
      return try await once(request, kind, extras, part)
    }
  }

  private func once(
    _ request: GraphQLRequest, _ kind: OperationKind, _ extras: HTTPExtras,
    _ part: (@Sendable (OperationPart) throws -> Void)?
  ) async throws -> [UInt8] {
    // What comes in parts is bounded as a whole where it is received.
    let bound = extras.takesParts ? BufferPolicy(.wait, events: .max, bytes: .max) : BufferPolicy(.wait, events: 2)
    let core = SubscriptionCore(bound)
    let home = self.bound
    let key = ObjectIdentifier(core)
    core.connect(onCancel: { home.loop.execute { home.value.cancel(key) } }, onRoom: {})
    onLoop { $0.start(request, kind, extras, core) }
    guard extras.takesParts else {
      guard let event = try await core.next() else {
        if Task.isCancelled { throw CancellationError() }
        throw GraphQLClientError(.invalidResponse, "the operation completed without a result")
      }
      return event.payload
    }
    var assembly = PartAssembly(telling: part, longest: configuration.messageBytes)
    while let event = try await core.next() {
      do {
        // The end of the response is left to the loop, which keeps the connection for others.
        if let whole = try assembly.receive(event.payload) { return whole }
      } catch {
        core.leave(.error(error))
        throw error
      }
    }
    if Task.isCancelled { throw CancellationError() }
    try assembly.end()
    throw GraphQLClientError(.invalidResponse, "the operation completed without a result")
  }

  /// Closes the sockets and keeps the subscriptions, until `resume()`.
  package func pause() { onLoop { $0.socket.pause() } }
  /// Dials again after `pause()`.
  package func resume() { onLoop { $0.socket.resume() } }
  /// Changes what the next sockets open with; `reconnecting` replaces open ones now.
  package func update(reconnecting: Bool, _ change: @escaping @Sendable (inout ConnectionConfiguration) -> Void) {
    onLoop { $0.socket.update(reconnecting: reconnecting, change) }
  }
  /// Ends everything: subscriptions as cancelled, queries and mutations with `shutDown`.
  package func shutDown() {
    onLoop {
      $0.socket.shutDown()
      $0.http?.shutDown()
    }
  }
}
