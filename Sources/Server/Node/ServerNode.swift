package import MartletGraphQLExecution
internal import MartletGraphQLWire
package import MartletModelSDL
internal import MartletModels
package import MartletRuntime
package import MartletStore
package import MartletWire

/// What all loops of one server share of a store that it serves: immutable, or safe from any thread. What belongs to
/// the server as a whole, such as the access, is the same object in the nodes of all its stores.
package final class ServerNode: Sendable {
  private let current: Lock<ServedSchema>
  package let store: Store
  package let limits: ServerLimits
  package let log: Log
  let audit: Audit
  /// Gathers traces; nil where there is no collector.
  let tracer: Tracer?
  /// What the store's paths begin with; empty for the server's first store.
  package let path: String
  /// Payloads of subscriptions that the loops share.
  let evaluations: SharedEvaluations
  /// Starts tasks for user code; never on a loop.
  package let spawner: any Spawner
  package let access: AccessControl
  /// Where user code runs in its task; a simulation keeps it on its own executor.
  package let place: UserCodePlace
  /// Asked before a socket is acknowledged, and about each request over HTTP.
  package let onConnect: ConnectionQuestion?
  /// The tree's rules; nil serves no tree.
  let tree: TreePolicy?
  /// The trees beside the first one.
  let namespaces: TreeNamespaces
  /// What the tree's clients have left for the ends of their sessions.
  let leases: TreeLeases
  /// Webhooks, where they are configured; of the first store.
  let channels: ChannelSettings?
  /// Endpoints of the program's own.
  let endpoints: [ServerEndpoint]
  /// What callers use of the server, for all stores.
  let callers: CallerMeters
  /// Whose word about their clients is believed.
  let trustedProxies: [AddressRange]
  /// Whether the pages about the server's state have a port of their own.
  let separatesStatus: Bool
  /// Whether the server itself speaks TLS.
  let isSecure: Bool
  /// Which statuses say how a GraphQL request went.
  package let statusCodes: GraphQLStatusCodes
  /// Whether responses say what their operations cost.
  let showsCost: Bool
  /// The cost that an operation may have, where responses say both; nil where they do not.
  var allowedCost: Int? { showsCost ? limits.query.complexity : nil }
  /// What the program adds to subscriptions, by field.
  let subscriptionControls: [String: @Sendable (SubscriptionQuestion) throws -> SubscriptionControl]
  /// Event streams that several operations share.
  let streams: StreamRegistry
  /// Dates answers, and draws their tokens, which must be unguessable.
  let calendar: Calendar
  /// What the program's own code reaches of the server.
  let handle: ServerHandle
  /// Documents that clients name by their hash; shared, as a client's next connection may be on another loop.
  let persisted: Lock<PersistedOperationStore>

  package init(
    _ served: ServedSchema, store: Store, limits: ServerLimits, log: Log, spawner: any Spawner,
    access: AccessControl, place: UserCodePlace = .pool,
    onConnect: ConnectionQuestion? = nil, endpoints: [ServerEndpoint] = [], tree: TreePolicy? = nil,
    namespaces: TreeNamespaces? = nil, channels: ChannelSettings? = nil,
    statusCodes: GraphQLStatusCodes = .audited, isSecure: Bool = false, calendar: Calendar, path: String = "",
    trustedProxies: [AddressRange] = [], separatesStatus: Bool = false,
    audit: Log? = nil, tracer: Tracer? = nil, showsCost: Bool = false,
    subscriptionControls: [String: @Sendable (SubscriptionQuestion) throws -> SubscriptionControl] = [:],
    besides first: ServerNode? = nil
  ) {
    self.subscriptionControls = subscriptionControls
    self.tracer = tracer
    callers = first?.callers ?? CallerMeters(limits.callers)
    self.trustedProxies = trustedProxies
    self.separatesStatus = separatesStatus
    self.audit = Audit(audit)
    self.path = path
    streams = StreamRegistry(limits)
    self.calendar = calendar
    let current = Lock(served)
    self.current = current
    handle = ServerHandle(
      store: store, calendar: calendar, limits: limits.query, models: { current.withLock { $0.models } })
    self.store = store
    self.limits = limits
    self.log = log
    self.spawner = spawner
    self.access = access
    self.place = place
    self.onConnect = onConnect
    self.endpoints = endpoints
    self.tree = tree
    self.channels = channels
    self.namespaces = namespaces ?? .none(limits.tree)
    leases = TreeLeases(step: limits.tree.leaseStep, most: limits.tree.expiriesAtOnce)
    self.statusCodes = statusCodes
    self.showsCost = showsCost
    self.isSecure = isSecure
    persisted = Lock(PersistedOperationStore(limits: PersistedOperationLimits(limits)))
    evaluations = SharedEvaluations(
      capacity: limits.session.evaluatedBytes, largestCount: limits.session.evaluatedPayloads)
  }

  /// The schema in force. Code that uses more than one part of it takes it once.
  package var served: ServedSchema { current.withLock { $0 } }
  package var models: ModelSchema { served.models }
  package var schema: ExecutableSchema { served.schema }
  package var topics: [String: String] { served.topics }

  /// Puts another schema in force for what begins from now on.
  func serve(_ schema: ServedSchema) {
    current.withLock { $0 = schema }
  }
}
