package import MartletAccess
package import MartletChangeFeed
internal import MartletGraphQLExecution
internal import MartletGraphQLWire
package import MartletJSON
internal import MartletModelSDL
package import MartletModels
internal import MartletRuntime
internal import MartletSockets
package import MartletStore
internal import MartletTokens
internal import MartletVocabulary

/// The fields of a sync without documents and connections: pages, writes, and what a feed of changes shows. A
/// simulation's way to the code that serves them.
package struct SyncService: Sendable {
  package let served: ServedSchema
  private let store: Store
  private let resolvers: Resolvers
  private let names: [String: [(name: String, slot: Int)]]

  package init(_ served: ServedSchema, _ store: Store, calendar: Calendar) {
    self.served = served
    self.store = store
    var resolvers = Resolvers()
    ModelResolvers(served.models, store, limits: ServerLimits().query, calendar: calendar).attach(to: &resolvers)
    self.resolvers = resolvers
    names = served.models.slots.mapValues { slots in
      slots.map { (name: $0.key, slot: $0.value) }.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }
  }

  /// Reads a schema; models and fields of `previous` keep their numbers.
  ///
  /// - Throws: what is wrong with the text.
  package static func schema(
    _ text: String, keeping previous: [ModelDefinition] = []
  ) throws -> ServedSchema {
    let models = try ModelSchema(text, keeping: previous)
    return ServedSchema(
      models: models, schema: try ExecutableSchema(models.schema, resolvers: Resolvers()), topics: [:])
  }

  /// The names of a model's fields and stamps; nil for a model that the schema does not have.
  package func fields(of model: String) -> Set<String>? { names[model].map { Set($0.map(\.name)) } }

  // MARK: Requests

  /// Answers one field of a query or mutation as the server does: data or errors, and the cursor of a numbered write.
  package func answer(
    _ type: String, _ field: String, _ arguments: JSONObject, extensions: JSONObject, for identity: Identity,
    to destination: any StoreDestination, _ completion: @escaping @Sendable (JSONValue) -> Void
  ) {
    guard case .callback(let resolve)? = resolvers.fields[Resolvers.FieldName(type, field)] else {
      let error = ResolverError("There is no field \(field).", extensions: ["code": "GRAPHQL_VALIDATION_FAILED"])
      return completion(Self.response(of: error))
    }
    let scope: RequestScope
    do {
      scope = try self.scope(extensions, identity, destination)
    } catch {
      return completion(Self.response(of: ResolverError(error.description, extensions: ["code": "BAD_USER_INPUT"])))
    }
    let batch = BatchRequest(
      sources: [.null], arguments: arguments, context: scope.context(), typeName: type, fieldName: field)
    resolve(batch) { results in
      switch results.first {
      case .success(let value)?:
        var response: JSONObject = ["data": .object([field: json(value)])]
        if let cursor = scope.written?.withLock({ $0 }) ?? nil {
          response["extensions"] = ["martlet": ["cursor": .string(cursor.description)]]
        }
        completion(.object(response))
      case .failure(let error)?: completion(Self.response(of: error))
      case nil: completion(["data": .null])
      }
    }
  }

  private func scope(
    _ extensions: JSONObject, _ identity: Identity, _ destination: any StoreDestination
  ) throws(GraphQLRequestError) -> RequestScope {
    let continuity = try RequestContinuity(extensions: extensions)
    let rights = Rights.of(identity, under: served)
    guard let write = continuity.write else {
      return RequestScope(destination: destination, identity: identity, rights: rights)
    }
    return RequestScope(
      destination: destination, identity: identity, rights: rights,
      writeNumber: WriteNumber(client: write.client, number: write.number, identity: identity.writer),
      acknowledged: continuity.acknowledged, isResend: continuity.isResend, replaced: continuity.replaced)
  }

  private static func response(of error: any Error) -> JSONValue {
    let extensions = (error as? ResolverError)?.extensions ?? ["code": "INTERNAL"]
    return [
      "data": .null,
      "errors": [["message": .string(ResolverError.text(of: error)), "extensions": .object(extensions)]],
    ]
  }

  /// The members of a page that clients ask for.
  private static let connection = ["items", "nextToken", "startedAt", "cursor", "isReplacement", "expected"]

  private func json(_ value: ResolvedValue) -> JSONValue {
    switch value.content {
    case .null: return .null
    case .json(let json): return json
    case .list(let values), .partial(let values, _): return .array(values.map(json))
    case .record(let record):
      let members = (names[record.typeName] ?? []).map { (key: $0.name, value: record[slot: $0.slot] ?? .null) }
      return .object(JSONObject(members))
    case .object(let object):
      return .object(JSONObject(Self.connection.map { (key: $0, value: json(object.value(of: $0))) }))
    }
  }

  // MARK: Changes

  /// What a `modelChanges` subscription shows to one caller.
  package struct Changes: Sendable {
    private let selection: ChangeSelection
    /// A digest of what the rules let the caller see; nil where nothing restricts it.
    package let view: String?

    fileprivate init(_ selection: ChangeSelection, view: String?) {
      self.selection = selection
      self.view = view
    }

    /// A change as a `ModelChange`; nil when it is not about the selected records.
    package func value(of change: Change) -> JSONValue? { selection.value(of: change) }
  }

  /// What a subscription with these arguments shows; the error's extensions where the rules allow nothing of it.
  package func changes(_ arguments: JSONObject, for identity: Identity) -> Result<Changes, SyncRefusal> {
    let rights = Rights.of(identity, under: served)
    do {
      let selection = try ChangeSelection(served.models, arguments, rights, FilterLimits())
      guard let rights else { return .success(Changes(selection, view: nil)) }
      var seen = rights.readingBytes(of: served.models.models.indices)
      for interest in selection.interests { seen += interest.predicate.canonicalText.utf8 }
      let view = String(decoding: Base64URL.encode(Array(Digest.sha256(seen).prefix(16))), as: UTF8.self)
      return .success(Changes(selection, view: view))
    } catch {
      return .failure(SyncRefusal(error: Self.response(of: error)["errors"]?[0] ?? .null))
    }
  }
}

/// Why a subscription is not served, as a member of a response's `errors`.
package struct SyncRefusal: Error {
  package let error: JSONValue
}
