package import MartletGraphQLClientWire
package import MartletJSON
internal import MartletRuntime

/// One client's way to one endpoint, over as many sockets as its subscriptions need, shared by all its operations.
/// Usable from any thread; what is asked of it is done in order, on its loop.
package final class GraphQLConnection: Sendable {
  private let sockets: LoopBound<ConnectionGroup>
  /// Carries queries and mutations: HTTP, or the sockets.
  private let requests: LoopBound<any RequestCarrier>
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
    let knowledge = ServerKnowledge(
      remembersWrites: configuration.assumesWriteNumbers, writes: WriteNumbering(environment.chance))
    let group = ConnectionGroup(
      ConnectionGroup.Home(endpoint: endpoint, environment: environment, knowledge: knowledge, events: events),
      configuration)
    let makeCarrier = Self.carriers(configuration, environment)
    sendsFiles = makeCarrier != nil
    var carrier: any RequestCarrier = group
    if let makeCarrier {
      let endpoint = endpoint.forRequests(configuration.dialect)
      let pool = makeCarrier(endpoint.address)
      carrier = HTTPOperations(
        HTTPOperation.Surroundings(
          endpoint: endpoint, configuration: configuration, environment: environment, pool: pool,
          redirected: RedirectPools(makeCarrier),
          batcher: configuration.batching.map { HTTPBatcher($0, pool, on: environment.loop) }, knowledge: knowledge))
    } else if configuration.requestTransport == .http, case .none = environment.requests {
      carrier = RefusingCarrier("this client's environment has no HTTP for queries and mutations")
    }
    sockets = LoopBound(group, on: environment.loop)
    requests = LoopBound(carrier, on: environment.loop)
  }

  /// What makes the carriers of requests by HTTP; nil when they go by the socket, or not at all.
  private static func carriers(
    _ configuration: ConnectionConfiguration, _ environment: ClientEnvironment
  ) -> ((ConnectionTarget) -> any CallCarrier)? {
    guard configuration.requestTransport == .http else { return nil }
    let limits = configuration.poolLimits
    switch environment.requests {
    case .connections(let bytes):
      return { HTTPPool($0, over: bytes, on: environment.loop, spawner: environment.spawner, limits: limits) }
    case .exchanges(let http, let staging):
      return {
        ExchangeCarrier($0, by: http, staging, on: environment.loop, spawner: environment.spawner, limits: limits)
      }
    case .socket, .none: return nil
    }
  }

  deinit {
    shutDown()
  }

  private func onLoop(_ body: @escaping @Sendable (ConnectionGroup) -> Void) {
    let sockets = self.sockets
    sockets.loop.execute { body(sockets.value) }
  }

  /// The life of the socket, from now on.
  package var connectionEvents: AsyncStream<ConnectionEvent> { events.stream() }

  /// Starts a subscription; it is dialled for, sent, resumed and ended from here on.
  package func subscribe(_ request: RequestPayload, buffer: BufferPolicy? = nil) -> SubscriptionCore {
    let core = SubscriptionCore(buffer ?? configuration.buffer)
    subscribe(request, into: core)
    return core
  }

  /// Starts a subscription that feeds an existing core.
  ///
  /// - Parameter resubscribing: answers the variables it is sent again with after a lost connection.
  package func subscribe(
    _ request: RequestPayload, into core: SubscriptionCore, resubscribing: (@Sendable () -> JSONObject)? = nil
  ) {
    core.bound(by: configuration.buffer)
    let sockets = self.sockets
    let key = ObjectIdentifier(core)
    core.connect(
      onCancel: { sockets.loop.execute { sockets.value.cancel(key) } },
      onRoom: { sockets.loop.execute { sockets.value.hasRoom(key) } })
    onLoop {
      $0.start(SocketOperation(request, .subscription(core), repetition: .always, resubscribing: resubscribing))
    }
  }

  /// Sends a query or a mutation; answers the payload of its one result, put together when it comes in parts.
  ///
  /// - Parameter part: called with each part, in the task of the caller. An error it throws ends the operation.
  /// - Throws: `GraphQLClientError`; for a mutation whose answer was lost and that may not be repeated,
  ///   `outcomeUnknown`.
  package func perform(
    _ request: RequestPayload, _ kind: ResendKind, _ extras: HTTPExtras = HTTPExtras(),
    part: (@Sendable (OperationPart) throws -> Void)? = nil
  ) async throws -> OperationPayload {
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
    _ request: RequestPayload, _ kind: ResendKind, _ extras: HTTPExtras,
    _ part: (@Sendable (OperationPart) throws -> Void)?
  ) async throws -> OperationPayload {
    let response = PendingResponse(bytes: configuration.messageBytes)
    let requests = self.requests
    let key = ObjectIdentifier(response)
    response.onCancel { requests.loop.execute { requests.value.cancel(key) } }
    requests.loop.execute { requests.value.start(request, kind, extras, response) }
    guard extras.takesParts else { return try await response.whole() }
    var assembly = PartAssembly(telling: part)
    while let payload = try await response.next() {
      do {
        // The end of the response is left to the loop, which keeps the connection for others.
        if let whole = try assembly.receive(payload) { return whole }
      } catch {
        response.leave(error)
        throw error
      }
    }
    try assembly.end()
    throw PendingResponse.withoutResult
  }

  /// Closes the sockets and keeps the subscriptions, until `resume()`.
  package func pause() { onLoop { $0.pause() } }
  /// Dials again after `pause()`.
  package func resume() { onLoop { $0.resume() } }
  /// Starts attempts that wait for their back-off.
  package func hasten() { onLoop { $0.hasten() } }
  /// Changes what the next sockets open with; `reconnecting` replaces open ones now.
  package func update(reconnecting: Bool, _ change: @escaping @Sendable (inout ConnectionConfiguration) -> Void) {
    onLoop { $0.update(reconnecting: reconnecting, change) }
  }
  /// Ends everything: subscriptions as cancelled, queries and mutations with `shutDown`.
  package func shutDown() {
    let requests = self.requests
    onLoop {
      $0.shutDown()
      requests.value.shutDown()
    }
  }
}
