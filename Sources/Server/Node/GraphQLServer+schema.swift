internal import MartletModelSDL
internal import MartletModels
internal import MartletRuntime
internal import MartletStore

extension GraphQLServer {
  /// Puts another schema in force while the server runs: models and fields may be added anywhere in the text, indexes,
  /// relations, defaults and types of the program's own may change. Data is migrated as at a start, except that nothing
  /// is dropped. The code of `ServerConfiguration.resolvers` is attached again.
  ///
  /// Subscriptions whose documents are valid under the new schema continue without a lost or repeated event, as they
  /// were planned; others end with an error whose code is `SCHEMA_CHANGED`. Operations under way finish as they began.
  ///
  /// Suspends until every loop serves the new schema.
  ///
  /// - Parameter path: The path of one of `ServerConfiguration.stores`; nil for the first store.
  /// - Throws: `ServerError` for a schema that is not valid, that lacks a model or field in force, whose migration is
  ///   refused, or while another reload is under way. The old schema stays in force then.
  public func reload(schema source: String, at path: String? = nil) async throws(ServerError) {
    try await replaceSchema(source, at: path) {}
  }

  /// Puts another schema, access file, certificate and the tree's rules in force together, as `reload(schema:at:)`,
  /// `reload(access:)` and `reload(treeRules:)` do: all of them, or none when one is refused. What a signal to read the
  /// configuration again asks for.
  ///
  /// Suspends until every loop serves the new schema.
  ///
  /// - Parameter treeNamespaces: other rules of trees beside the first one. Those that are not named keep theirs.
  /// - Throws: `ServerError` as the two do, and for a tree that was not declared; nothing has changed then.
  public func reload(
    schema source: String, access: AccessFile?, treeRules: String? = nil,
    treeNamespaces: [TreeNamespaceDeclaration] = []
  ) async throws(ServerError) {
    let prepared = try self.prepared(access)
    let rules = try treeRules.map { text throws(ServerError) in try self.prepared(treeRules: text) }
    let others = try treeNamespaces.map { space throws(ServerError) in try PreparedRules.of(space, node) }
    try await replaceSchema(source, at: nil) {
      prepared.use()
      rules?.use()
      for space in others { space.use() }
    }
    if rules != nil || !others.isEmpty { await trees.recheck() }
  }

  /// - Parameter besides: Called once when nothing can be refused any longer.
  private func replaceSchema(
    _ source: String, at path: String?, _ besides: @Sendable () -> Void
  ) async throws(ServerError) {
    let node = try self.node(at: path)
    let isFirst = isReloading.withLock { isReloading in
      defer { isReloading = true }
      return !isReloading
    }
    guard isFirst else { throw ServerError(.schema, "Another schema is being put in force.") }
    defer { isReloading.withLock { $0 = false } }
    var configuration = configuration
    if let store = configuration.stores.first(where: { $0.path == node.path }) {
      configuration = configuration.serving(store)
    }
    configuration.schema = source
    let before = node.models
    let models = try ServerAssembly.models(configuration, servesTree: node === self.node, keeping: before.models)
    guard models.version != before.version else { return besides() }
    let served = try ServerAssembly.served(
      models, configuration, node.store, isDevelopment: node.access.isDevelopment, calendar: calendar)
    do {
      let warnings = try await node.store.migrate(
        to: RecordShape.shapes(of: models), schema: String(models.version, radix: 16), text: source,
        allowsDuplicates: configuration.allowsDuplicates)
      for warning in warnings { node.log.write(.warning, "Data needs repair.", [(.reason, warning)]) }
    } catch {
      throw ServerError(.data, error.description)
    }
    node.serve(served)
    besides()
    var ended = 0
    for loop in loops {
      ended += await withCheckedContinuation { continuation in
        loop.loop.execute { continuation.resume(returning: loop.value.recheckSchema(of: node)) }
      }
    }
    node.log.write(.info, "Another schema is in force.", [(.count, "\(ended)")])
  }
}
