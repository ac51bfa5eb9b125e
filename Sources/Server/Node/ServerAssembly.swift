package import MartletGraphQLExecution
internal import MartletGraphQLLanguage
internal import MartletJSON
internal import MartletModelSDL
internal import MartletModels
package import MartletRuntime
internal import MartletSockets
package import MartletStore
internal import MartletTreeRules
internal import MartletVocabulary
internal import MartletWire

/// Puts a node together from a configuration and what it runs on: real threads and clocks, or a simulation's.
package enum ServerAssembly {
  /// What a node runs on.
  package struct Surroundings: Sendable {
    package var place: StorePlace
    package var storeOptions: StoreOptions
    package var spawner: any Spawner
    package var userCode = UserCodePlace.pool
    package var calendar: Calendar

    package init(place: StorePlace, storeOptions: StoreOptions, spawner: any Spawner, calendar: Calendar) {
      self.place = place
      self.storeOptions = storeOptions
      self.spawner = spawner
      self.calendar = calendar
    }
  }

  /// Reads the schema, opens the store, attaches resolvers.
  ///
  /// - Parameters:
  ///   - first: The server's first store, whose callers the others share.
  ///   - path: What the store's paths begin with; empty for the first.
  package static func node(
    _ configuration: ServerConfiguration, on surroundings: Surroundings, besides first: ServerNode? = nil,
    at path: String = ""
  ) throws(ServerError) -> ServerNode {
    let models = try Self.models(configuration, servesTree: first == nil, keeping: [])
    let own = try accessControl(configuration, surroundings.calendar)
    let access = first?.access ?? own
    let proxies = try trustedProxies(configuration)
    // The first store has the tree.
    let tree = try (first == nil ? configuration.treeRules : nil).map { text throws(ServerError) in
      TreePolicy(try treeRules(text, configuration.limits))
    }
    let channels = try (first == nil ? configuration.channels : nil).map { given throws(ServerError) in
      try ChannelSettings(given)
    }
    var options = surroundings.storeOptions
    options.limits = StoreLimits(configuration.limits)
    options.allowsDropping = configuration.allowsDropping
    options.allowsDuplicates = configuration.allowsDuplicates
    options.allowsCreating = configuration.allowsCreating
    options.schemaName = String(models.version, radix: 16)
    options.schemaText = configuration.schema
    let log = configuration.log
    log.adopt(LogLimits(configuration.limits))
    configuration.audit?.reportLosses(to: log)
    options.onWarning = { log.write(.warning, "Data needs repair.", [(.reason, $0)]) }
    let store: Store
    do {
      store = try Store(surroundings.place, schema: models, options: options)
    } catch {
      throw ServerError(.data, error.description)
    }
    tree?.opened(store)
    do {
      let served = try Self.served(
        models, configuration, store, isDevelopment: access.isDevelopment, calendar: surroundings.calendar)
      return ServerNode(
        served, store: store, limits: configuration.limits, log: configuration.log, spawner: surroundings.spawner,
        access: access, place: surroundings.userCode, onConnect: configuration.onConnect,
        endpoints: configuration.endpoints, tree: tree,
        namespaces: first == nil ? try namespaces(configuration, surroundings, store) : nil, channels: channels,
        statusCodes: configuration.statusCodes,
        isSecure: configuration.certificate != nil, calendar: surroundings.calendar, path: path,
        trustedProxies: proxies,
        separatesStatus: configuration.adminPort != nil || configuration.adminListeningSocket != nil,
        audit: configuration.audit, tracer: configuration.tracer, showsCost: configuration.showsCost,
        subscriptionControls: configuration.subscriptionControls, besides: first)
    } catch {
      store.close()
      throw error
    }
  }

  /// Reads the ranges of trusted proxies.
  static func trustedProxies(_ configuration: ServerConfiguration) throws(ServerError) -> [AddressRange] {
    var ranges: [AddressRange] = []
    for text in configuration.trustedProxies {
      do {
        ranges.append(try AddressRange(text))
      } catch {
        throw ServerError(.network, "In the trusted proxies, \(error.description).")
      }
    }
    guard !configuration.expectsProxyProtocol || !ranges.isEmpty else {
      throw ServerError(
        .network, "The PROXY protocol needs the addresses of the proxies that send it: name them as trusted proxies.")
    }
    return ranges
  }

  /// Reads the tree's rules.
  static func treeRules(_ text: String, _ limits: ServerLimits) throws(ServerError) -> RuleSet {
    do { return try RuleSet(parsing: text, limits: RuleLimits(limits.tree)) } catch {
      throw ServerError(.treeRules, "The tree's rules cannot be used:\n\(error)")
    }
  }

  /// The trees beside the first that the configuration declares, and the first store.
  static func namespaces(
    _ configuration: ServerConfiguration, _ surroundings: Surroundings, _ store: Store
  ) throws(ServerError) -> TreeNamespaces {
    var options = surroundings.storeOptions
    options.limits = StoreLimits(configuration.limits)
    var folder: String?
    if case .folder(let path) = configuration.data { folder = path }
    let calendar = surroundings.calendar
    let namespaces = TreeNamespaces(
      TreeNamespaces.Ground(
        folder: folder, options: options, limits: configuration.limits.tree,
        term: {
          var chance = calendar.chance()
          return chance.next()
        }, log: configuration.log), firstName: configuration.treeName)
    guard configuration.treeRules != nil || configuration.treeNamespaces.isEmpty else {
      throw ServerError(.treeRules, "Namespaces are declared, and the first tree has no rules.")
    }
    for space in configuration.treeNamespaces {
      guard namespaces.all.allSatisfy({ !$0.name.hasSameBytes(as: space.name) }) else {
        throw ServerError(.treeRules, "The namespace \"\(space.name)\" is declared twice.")
      }
      try namespaces.declare(space.name, try treeRules(space.rules, configuration.limits))
    }
    // The configuration's rules are used where both declare a tree.
    for (name, text) in store.definitionsAtOpening["namespace"] ?? []
    where configuration.treeRules != nil && !namespaces.all.contains(where: { $0.name.hasSameBytes(as: name) }) {
      try namespaces.declare(name, try treeRules(String(decoding: text, as: UTF8.self), configuration.limits))
    }
    return namespaces
  }

  /// Reads the schema; models and fields that a schema in force has keep their numbers.
  static func models(
    _ configuration: ServerConfiguration, servesTree: Bool, keeping previous: [ModelDefinition]
  ) throws(ServerError) -> ModelSchema {
    do {
      return try ModelSchema(
        configuration.schema, name: configuration.schemaName,
        options: SchemaOptions(incrementalDelivery: configuration.incrementalDelivery),
        servesTree: servesTree && configuration.treeRules != nil, keeping: previous)
    } catch {
      throw ServerError(.schema, error.description)
    }
  }

  /// Attaches the code behind the fields.
  static func served(
    _ models: ModelSchema, _ configuration: ServerConfiguration, _ store: Store, isDevelopment: Bool, calendar: Calendar
  ) throws(ServerError) -> ServedSchema {
    var resolvers = Resolvers()
    configuration.resolvers(&resolvers)
    if let tracer = configuration.tracer { resolvers = resolvers.traced(by: tracer) }
    if let model = models.models.first(where: {
      $0.conflicts == .lambda && configuration.conflictHandlers[$0.name] == nil
    }) {
      throw ServerError(
        .schema,
        "\(model.name) leaves conflicts to the program; give its handler in ServerConfiguration.conflictHandlers.")
    }
    ModelResolvers(
      models, store, limits: configuration.limits.query, calendar: calendar,
      conflictHandlers: configuration.conflictHandlers
    ).attach(to: &resolvers)
    for field in configuration.topics.keys { resolvers.use(.parent, "Subscription", field) }
    let schema: ExecutableSchema
    do {
      schema = try ExecutableSchema(
        models.schema, resolvers: resolvers, limits: ExecutionLimits(configuration.limits),
        exposure: configuration.errorExposure ?? (isDevelopment ? .messages : .masked),
        allowsIntrospection: configuration.allowsIntrospection ?? isDevelopment,
        onUnexpectedError: configuration.log.unexpectedError)
    } catch {
      throw ServerError(.schema, error.description)
    }
    let computed = models.models.flatMap { model in
      model.computed.filter { resolvers.fields[Resolvers.FieldName(model.name, $0)] == nil }
        .map { "\(model.name).\($0)" }
    }
    let missing = schema.rootFieldsWithoutCode + computed
    guard missing.isEmpty else { throw ServerError(.schema, Self.missingCode(missing)) }
    return ServedSchema(
      models: models, schema: schema, topics: configuration.topics, lens: configuration.ruleLens)
  }

  /// A field of a root type has nothing that could answer it.
  private static func missingCode(_ fields: [String]) -> String {
    let list = fields.prefix(5).joined(separator: ", ") + (fields.count > 5 ? " and \(fields.count - 5) more" : "")
    return fields.count == 1
      ? "\(list) has no resolver. Attach one in ServerConfiguration.resolvers, or remove the field."
      : "\(list) have no resolvers. Attach them in ServerConfiguration.resolvers, or remove the fields."
  }

  private static func accessControl(
    _ configuration: ServerConfiguration, _ calendar: Calendar
  ) throws(ServerError) -> AccessControl {
    guard let access = configuration.access else {
      throw ServerError(
        .access,
        """
        No access is configured, and a server is closed by default. Either
          - start it with --dev: open to this machine only, for development; or
          - name an access file: {"keys":[{"name":"my app","sha256":"<SHA-256 of a random key, in hexadecimal>"}]}
            `martlet access key create "my app"` makes a key and prints its entry.
        """)
    }
    switch access {
    case .development:
      guard ["127.0.0.1", "::1"].contains(configuration.address) else {
        throw ServerError(
          .access, "In development the server binds 127.0.0.1 or ::1, not \(configuration.address): it is open.")
      }
      return AccessControl(
        .development, origins: OriginCheck(.loopbackOnly), members: configuration.credentialMembers,
        queryCredentials: configuration.queryCredentials, limits: AccessLimits(configuration.limits),
        digest: Digest.sha256, now: { calendar.sinceEpoch() })
    case .keys(let file):
      return AccessControl(
        .file(file), origins: OriginCheck(.origins(file.origins)), members: configuration.credentialMembers,
        queryCredentials: configuration.queryCredentials, limits: AccessLimits(configuration.limits),
        digest: Digest.sha256, now: { calendar.sinceEpoch() })
    case .onConnect(let origins):
      guard configuration.onConnect != nil else {
        throw ServerError(
          .access, "The access is .onConnect, but ServerConfiguration.onConnect is nil: set the closure that decides.")
      }
      return AccessControl(
        .program, origins: OriginCheck(.origins(origins)), members: configuration.credentialMembers,
        queryCredentials: configuration.queryCredentials, limits: AccessLimits(configuration.limits),
        digest: Digest.sha256, now: { calendar.sinceEpoch() })
    }
  }
}
