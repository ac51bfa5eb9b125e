import Foundation
import Martlet
import MartletDataStore
import MartletGraphQLClient
import MartletJSON
import MartletRuntime
import MartletServer
import Testing

struct Note: Model, Equatable {
  var id: String
  var text: String
  var rank: Int?
  var owner: String?
  enum CodingKeys: String, ModelKey { case id, text, rank, owner }
}

struct Folder: Model, Equatable {
  var id: String
  var name: String
  enum CodingKeys: String, ModelKey { case id, name }
}

/// A transport that can be cut off, and that can lose answers.
final class CutTransport: NetworkTransport {
  private struct State {
    var isCut = false
    var loses = 0
    var feeds: [SubscriptionFeed] = []
    var mutations = 0
    var queries: [OperationRequest] = []
    var uploads: [OperationRequest] = []
    var refusals: [JSONValue] = []
    var queryRefusals: [JSONValue] = []
    var failures: [GraphQLClientError] = []
    /// What an answer to a query waits for an element of; nil for nothing.
    var gates: AsyncStream<Void>?
    /// The same for an answer to a mutation.
    var mutationGates: AsyncStream<Void>?
    /// The same for a mutation before it is sent.
    var requestGates: AsyncStream<Void>?
  }

  private let inner: any NetworkTransport
  private let state = Lock(State())

  init(_ inner: any NetworkTransport) { self.inner = inner }

  private static let lost = GraphQLClientError(.connectionLost, "the network is cut off")

  /// Mutations that have reached the server.
  var mutations: Int { state.withLock { $0.mutations } }

  /// Subscriptions that have been made and not cut.
  var subscriptions: Int { state.withLock { $0.feeds.count } }

  /// Queries that have reached the server.
  var queries: [OperationRequest] { state.withLock { $0.queries } }

  /// Mutations that were to be sent.
  var uploads: [OperationRequest] { state.withLock { $0.uploads } }

  /// What they say of their numbers.
  var writes: [JSONValue] { uploads.compactMap { $0.extensions["martlet"]?["write"] } }

  /// The subscriptions lose events for this reason.
  func interrupt(_ reason: EventGap.Reason) {
    for feed in state.withLock({ $0.feeds }) { feed.yield(gap: EventGap(reason)) }
  }

  /// The next mutations do not reach the server, and have these errors as answers.
  func refuse(with errors: [JSONValue]) { state.withLock { $0.refusals += errors } }

  /// The next queries do not reach the server, and have these errors as answers.
  func refuseQueries(with errors: [JSONValue]) { state.withLock { $0.queryRefusals += errors } }

  /// The next mutations do not reach the server, and fail like this.
  func fail(with errors: [GraphQLClientError]) { state.withLock { $0.failures += errors } }

  /// From now on each answer to a query waits until the continuation yields.
  func gateQueries() -> AsyncStream<Void>.Continuation {
    let (gate, continuation) = AsyncStream.makeStream(of: Void.self)
    state.withLock { $0.gates = gate }
    return continuation
  }

  /// From now on each answer to a mutation, which the server has, waits until the continuation yields or finishes.
  func gateMutations() -> AsyncStream<Void>.Continuation {
    let (gate, continuation) = AsyncStream.makeStream(of: Void.self)
    state.withLock { $0.mutationGates = gate }
    return continuation
  }

  /// From now on each mutation waits until the continuation yields or finishes, and is sent then.
  func holdMutations() -> AsyncStream<Void>.Continuation {
    let (gate, continuation) = AsyncStream.makeStream(of: Void.self)
    state.withLock { $0.requestGates = gate }
    return continuation
  }

  /// The answers of the next mutations are lost.
  func lose(_ answers: Int) { state.withLock { $0.loses = answers } }

  func cut() {
    let feeds = state.withLock { state in
      state.isCut = true
      defer { state.feeds = [] }
      return state.feeds
    }
    for feed in feeds { feed.finish(throwing: Self.lost) }
  }

  func mend() { state.withLock { $0.isCut = false } }

  func send(_ request: OperationRequest) async throws -> OperationPayload {
    if state.withLock({ $0.isCut }) { throw Self.lost }
    if request.kind == .mutation { state.withLock { $0.uploads.append(request) } }
    let refusal = state.withLock { state -> JSONValue? in
      if request.kind == .query {
        state.queries.append(request)
        guard !state.queryRefusals.isEmpty else { return Optional.none }
        return state.queryRefusals.removeFirst()
      }
      guard request.kind == .mutation, !state.refusals.isEmpty else { return Optional.none }
      return state.refusals.removeFirst()
    }
    let failure = state.withLock { state -> GraphQLClientError? in
      request.kind == .mutation && !state.failures.isEmpty ? state.failures.removeFirst() : nil
    }
    if let failure { throw failure }
    if let refusal { return OperationPayload(["data": .null, "errors": [refusal]]) }
    if request.kind == .mutation, let gates = state.withLock({ $0.requestGates }) { for await _ in gates { break } }
    let payload = try await inner.send(request)
    if request.kind == .query, let gates = state.withLock({ $0.gates }) { for await _ in gates { break } }
    guard request.kind == .mutation else { return payload }
    if let gates = state.withLock({ $0.mutationGates }) { for await _ in gates { break } }
    let isLost = state.withLock { state in
      state.mutations += 1
      defer { state.loses = max(0, state.loses - 1) }
      return state.loses > 0
    }
    if isLost { throw GraphQLClientError(.outcomeUnknown, "the answer was lost") }
    return payload
  }

  func subscribe(_ request: OperationRequest, feeding feed: SubscriptionFeed) throws {
    let isCut = state.withLock { state in
      if !state.isCut { state.feeds.append(feed) }
      return state.isCut
    }
    if isCut { throw Self.lost }
    try inner.subscribe(request, feeding: feed)
  }

  func shutDown() { inner.shutDown() }
}

/// A store of one caller, its client and its way to the server.
final class SyncedStore: Sendable {
  let store: DataStore
  let wire: CutTransport
  private let client: GraphQLClient

  init(
    _ server: GraphQLServer, as caller: String = "ada", models: [any Model.Type] = [Folder.self, Note.self],
    storage: DataStoreStorage = .inMemory, resumes: Bool = true, on surroundings: StoreSurroundings = .system,
    _ adjust: (inout DataStoreConfiguration) -> Void = { _ in }
  ) throws {
    var connection = ConnectionConfiguration()
    connection.resumes = resumes
    connection.credentials = { _ in
      Credentials(headers: [(name: "Authorization", value: caller)], payload: ["Authorization": .string(caller)])
    }
    client = try GraphQLClient(
      url: try #require(URL(string: "ws://127.0.0.1:\(server.port)/graphql")), configuration: connection)
    wire = CutTransport(client.networkTransport)
    var configuration = DataStoreConfiguration()
    adjust(&configuration)
    store = try DataStore(
      models: models, storage: storage, sync: DataStoreSync(wire, configuration: configuration), on: surroundings)
  }

  /// Returns when the store has everything and the server has everything.
  func settle() async throws {
    try await store.start()
    try await wait { $0.isSettled }
  }

  /// Returns when the status fulfils a condition.
  func wait(until condition: (DataStoreSyncStatus) -> Bool) async throws {
    for await status in store.syncStatuses where condition(status) { return }
  }

  /// Returns when the store's notes are these.
  func sees(_ notes: [Note]) async throws {
    let note = Note.keys
    for try await snapshot in store.observeQuery(for: Note.self, sort: .ascending(note.id))
    where Array(snapshot.items) == notes { return }
  }

  /// Cuts the store off, and returns when it knows.
  func cut() async throws {
    wire.cut()
    try await wait { !$0.isConnected }
  }

  func mend() async throws {
    wire.mend()
    try await store.networkIsReachable()
  }

  func close() { client.shutDown() }
}

extension WriteHandle {
  /// Why the write ends before `stage`; nil when it reaches it.
  func end(before stage: Stage) async -> Ended.Reason? {
    do throws(Ended) {
      try await reached(stage)
      return nil
    } catch {
      return error.reason
    }
  }
}

/// A server with versioned models that knows callers by their tokens.
enum SyncedServer {
  static let schema = """
    type Folder @model @versioned @auth(rules: [{allow: private}]) { id: ID! name: String! }
    type Note @model @versioned
      @auth(rules: [{allow: owner}, {allow: private, operations: [read, create, update, delete]}]) {
      id: ID!
      text: String! @validate(type: maxLength, value: "20")
      rank: Int
    }
    """

  static func with(
    _ schema: String = schema, _ adjust: (inout ServerConfiguration) -> Void = { _ in },
    _ body: (GraphQLServer) async throws -> Void
  ) async throws {
    var configuration = ServerConfiguration(schema: schema)
    configuration.access = .onConnect()
    configuration.onConnect = { request in
      let shown = request.payload["Authorization"]?.string ?? ""
      guard let name = shown.split(separator: " ").last else { return .accept() }
      return .accept(as: Identity(provider: .function, subject: String(name), groups: []))
    }
    configuration.log = .silent
    configuration.loops = 1
    adjust(&configuration)
    let server = try GraphQLServer(configuration)
    try server.start()
    do {
      try await body(server)
    } catch {
      await server.stop()
      throw error
    }
    await server.stop()
  }
}
