/// How a `GraphQLServer` is set up.
///
/// ```swift
/// var configuration = ServerConfiguration(schema: text)
/// configuration.data = .folder("data")
/// configuration.access = .keys(try AccessFile(accessText))
/// let server = try GraphQLServer(configuration)
/// try server.start()
/// ```
public struct ServerConfiguration: Sendable {
  /// Where records and the change log live.
  public enum Data: Sendable {
    /// A folder on disk, created when missing and locked while open.
    case folder(String)
    /// Memory: gone with the process. For tests.
    case memory
  }

  /// The clients that may use the server.
  public enum Access: Sendable {
    /// Any client on this machine, with introspection. `Host` and `Origin` are checked, so that a web page of somebody
    /// else cannot use it. Binds loopback addresses only.
    case development
    /// Callers that show an API key.
    case keys(AccessFile)
    /// Callers that `onConnect` accepts; there are no API keys. Web pages of any origin may use the server, or of the
    /// given ones alone.
    case onConnect(origins: Set<String>? = nil)
  }

  /// A certificate for TLS, as PEM files.
  public struct Certificate: Sendable {
    /// The certificate, followed by its chain.
    public var certificateFile: String
    /// The private key.
    public var keyFile: String

    /// Names the two files.
    public init(certificateFile: String, keyFile: String) {
      self.certificateFile = certificateFile
      self.keyFile = keyFile
    }
  }

  /// The schema: `@model` types, and types with resolvers of their own.
  public var schema: String
  /// Further stores under the same server, each with a schema, data and a change log of its own.
  public var stores: [ServerStore] = []
  /// The schema's file, for messages.
  public var schemaName: String?
  /// Where the data lives.
  public var data = Data.memory
  /// The clients that may use the server. Nil refuses to start and says how to configure it: a server is closed by
  /// default.
  public var access: Access?
  /// Members of a `connection_init` payload, and of AppSync's authorization, that may hold a key; over HTTP, the header
  /// fields that `onConnect` is shown. Names are compared without regard to case.
  public var credentialMembers = ["x-api-key", "Authorization", "authToken"]
  /// Whether requests for `/PATH.json` may show credentials in their query, as `auth` or `access_token`: the clients of
  /// the Realtime Database's REST interface do. Off by default, because addresses are kept in the logs of proxies and
  /// in the histories of browsers. An access file says the same with `"queryCredentials": true`, which a reload
  /// changes.
  public var queryCredentials = false
  /// Asked before a WebSocket is acknowledged and before a request over HTTP is served, after its key was accepted
  /// where keys are needed. Nil accepts the client.
  public var onConnect: ConnectionQuestion?
  /// A numeric address.
  public var address = "127.0.0.1"
  /// Zero takes a free port; `GraphQLServer.port` has its number.
  public var port = 0
  /// A listening TCP socket that the process was started with, by its descriptor, in place of one that is opened at
  /// `address` and `port`: a service manager's socket activation. Connections that came before the start are served.
  /// The server closes it when it stops.
  public var listeningSocket: Int32?
  /// The addresses of reverse proxies, as ranges such as `10.0.0.0/8`. What they say about their clients is believed:
  /// `Forwarded`, or `X-Forwarded-For`, `-Proto` and `-Host`. Of all others these fields are ignored. Without it,
  /// every client of a proxy has the proxy's address.
  public var trustedProxies: [String] = []
  /// Whether each connection begins with a header of the PROXY protocol, version 2, that a proxy of `trustedProxies`
  /// sends; connections of others are refused.
  public var expectsProxyProtocol = false
  /// A port of its own for `/healthz`, `/readyz` and `/metrics`, which the server's port does not serve then. Every
  /// client that reaches it may read the figures. Zero takes a free port, `GraphQLServer.adminPort` has its number; nil
  /// opens none.
  public var adminPort: Int?
  /// A numeric address for `adminPort`: this machine alone by default.
  public var adminAddress = "127.0.0.1"
  /// For `adminPort` what `listeningSocket` is for `port`.
  public var adminListeningSocket: Int32?
  /// Serves TLS when set.
  public var certificate: Certificate?
  /// Event loops; nil for one fewer than there are cores, at least one: the store's writer has the other.
  public var loops: Int?
  /// Every bound, with its default and reason.
  public var limits = ServerLimits()
  /// Lets a migration delete models and fields the schema no longer has, with their data.
  public var allowsDropping = false
  /// Serves data in which several records share what an `@hasOne` relation gives to one of them. The relation is not
  /// kept unique until they are repaired, and each start writes a warning that names two of them. Without it, such data
  /// is refused.
  public var allowsDuplicates = false
  /// Makes a new store in a folder that holds other files. An empty or missing folder needs no permission; without it,
  /// a folder that is not a data folder, or half of one, is refused.
  public var allowsCreating = false
  /// Which HTTP statuses say how a GraphQL request went.
  public var statusCodes = GraphQLStatusCodes.audited
  /// How much clients see of errors that resolvers throw and that are not `ResolverError`; the log has their text in
  /// any case. Nil shows the text in development, and `Internal error.` to clients with keys.
  public var errorExposure: ErrorExposure?
  /// Where log entries go: as text to standard error, from `info` on. `Log.silent` keeps none.
  public var log = Log.standardError()
  /// Where the audit log goes: who was admitted, what was refused, and by which rule; never values. Nil writes none.
  public var audit: Log?
  /// Whether the response to a query or mutation says what the operation was estimated to cost, and what it may:
  /// `extensions.martlet.cost`. `martlet serve --dev` turns it on.
  public var showsCost = false
  /// Where traces of operations, resolvers, commits and deliveries go; nil records none.
  public var tracing: TracingConfiguration?
  /// What gathers them, once there is a server.
  package var tracer: Tracer?
  /// Lets requests use `@defer` and `@stream`. A client that accepts `multipart/mixed` gets such parts later; others
  /// get everything at once.
  public var incrementalDelivery = true
  /// The code behind types that are not models.
  public var resolvers: @Sendable (inout Resolvers) -> Void = { _ in }
  /// Endpoints of the program's own, served beside `/graphql`; the server's own paths come first.
  public var endpoints: [ServerEndpoint] = []
  /// Whether callers may ask for the schema (introspection): all that are admitted, or none; nil allows it in
  /// development only. An entry of the access file may say otherwise of its key, with `"introspection": true` or
  /// `false`.
  public var allowsIntrospection: Bool?
  /// Subscription fields fed by topics: field name to topic. `GraphQLServer.publish` appends to a topic; the field's
  /// arguments must equal the event's members of their names.
  public var topics: [String: String] = [:]
  /// Add filters to subscriptions when they begin, by the field's name. They run on an event loop and cannot wait for
  /// anything; what they throw refuses the subscription. Fields with a source stream of their own
  /// (`Resolvers.stream`) are not asked.
  public var subscriptionControls: [String: @Sendable (SubscriptionQuestion) throws -> SubscriptionControl] = [:]
  /// Decide about writes to models with `@versioned(conflicts: LAMBDA)` that were made on an older version, by the
  /// model's name. They run on the store's writer, one at a time, and cannot wait for anything.
  public var conflictHandlers: [String: ConflictHandler] = [:]
  /// Replaces what rules come to, for tests that plant leaks.
  package var ruleLens: RuleLens?

  /// The rules of the synced tree, as the text of a rules file; nil serves no tree.
  ///
  /// With rules the tree is served at `/.ws`, as version 5 of the Realtime Database's protocol, and at `/PATH.json`.
  public var treeRules: String?
  /// The name by which clients ask for this tree, in the query's `ns`. Nil lets every name stand for it, as long as no
  /// other tree is declared; a request without a name always means it.
  public var treeName: String?
  /// Further trees, each with data, a change log, rules and write numbers of its own. A request's `ns` chooses among
  /// those that are declared here or by `GraphQLServer.trees.declare(_:rules:)`; it never makes one. A tree's data is
  /// opened with its first request, in the folder `namespace-NAME` of the data folder.
  public var treeNamespaces: [TreeNamespaceDeclaration] = []

  /// Webhooks and what they are subscribed to; nil delivers nothing and serves no `/channels`.
  public var channels: ChannelConfiguration?

  /// A configuration for a schema, everything else by default.
  public init(schema: String) {
    self.schema = schema
  }
}

/// A tree beside a server's first one.
public struct TreeNamespaceDeclaration: Sendable {
  /// What requests name in `ns`: 1 to 64 letters, digits, `-` and `_`.
  public var name: String
  /// The text of its rules file.
  public var rules: String

  /// Declares a tree; its name and rules are checked when the server is made.
  public init(_ name: String, rules: String) {
    self.name = name
    self.rules = rules
  }
}
