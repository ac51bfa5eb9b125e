internal import MartletModelSchema
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
  /// - Throws: `ServerError` for a schema that is not valid, that lacks a model or field in force, whose migration is
  ///   refused, or while another reload is under way. The old schema stays in force then.
  public func reload(schema source: String) async throws(ServerError) {
    let isFirst = isReloading.withLock { isReloading in
      defer { isReloading = true }
      return !isReloading
    }
    guard isFirst else { throw ServerError(.schema, "Another schema is being put in force.") }
    defer { isReloading.withLock { $0 = false } }
    var configuration = configuration
    configuration.schema = source
    let before = node.models
    let models = try ServerAssembly.models(configuration, keeping: before.models)
    guard models.version != before.version else { return }
    if !node.access.isDevelopment { try ServerAssembly.refuseRules(models) }
    let served = try ServerAssembly.served(
      models, configuration, node.store, isDevelopment: node.access.isDevelopment, calendar: calendar)
    do {
      try await node.store.migrate(
        to: RecordShape.shapes(of: models), schema: String(models.version, radix: 16))
    } catch {
      throw ServerError(.data, error.description)
    }
    node.serve(served)
    var ended = 0
    for loop in loops {
      ended += await withCheckedContinuation { continuation in
        loop.loop.execute { continuation.resume(returning: loop.value.recheckSchema()) }
      }
    }
    node.log.write(.info, "Another schema is in force.", [(.count, "\(ended)")])
  }
}
