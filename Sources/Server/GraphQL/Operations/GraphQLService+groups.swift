internal import MartletAccess
internal import MartletChangeFeed
internal import MartletGraphQLExecution
internal import MartletGraphQLLanguage
internal import MartletJSON
internal import MartletModelSchema

extension GraphQLService {
  /// What a subscription on a field fed by the log listens to; nil for a field with a source stream of its own.
  ///
  /// - Parameter refusesSeveralOperators: for AppSync's clients, who mean by several operators on one field that any of
  ///   them holds.
  func group(
    _ prepared: PreparedOperation, _ operationName: String?, _ variables: JSONObject, _ field: String,
    _ arguments: JSONObject, refusesSeveralOperators: Bool = false
  ) throws -> GraphQLGroup? {
    if case .subscribe(let source)? = node.models.operations[FieldPath("Subscription", field)] {
      let model = node.models.models[source.model]
      let predicate: Predicate
      switch source.filter {
      case .filterArgument:
        var reader = FilterReader(model)
        reader.refusesSeveralOperators = refusesSeveralOperators
        predicate = try reader.read(arguments["filter"])
      case .equalities(let equalities):
        let parts: [Predicate] = equalities.compactMap { equality in
          guard let value = arguments[equality.argument], !value.isNull else { return nil }
          return .compare(field: equality.field, .eq(value))
        }
        predicate = parts.isEmpty ? .all : .and(parts)
      }
      let interests = source.events.map { event in
        Interest(.model(source.model, event.changeKind), predicate)
      }
      return GraphQLGroup(
        self, prepared, operationName: operationName, variables: variables, interests: interests,
        selection: shared(RecordSelection(prepared.plan, variables: variables)))
    }
    guard let topic = node.topics[field] else { return nil }
    return GraphQLGroup(
      self, prepared, operationName: operationName, variables: variables, interests: [Interest(.topic(named: topic))],
      selection: nil, topicFilter: JSONObject(arguments.filter { !$0.value.isNull }))
  }

  /// The part of a group's key that keeps callers apart: empty unless the program's own code, which may ask for the
  /// identity, takes part in making the payload.
  func viewer(of prepared: PreparedOperation, _ group: GraphQLGroup, _ variables: JSONObject) -> [UInt8] {
    guard !group.needsRecordAlone, prepared.plan.variant(for: variables).runsUserCode else { return [] }
    let identity = prepared.scope.identity
    let parts: JSONValue = [
      .string(identity.provider.rawValue), identity.subject.map { .string($0) } ?? .null,
      .array(identity.groups.map { .string($0) }), .object(identity.claims),
      identity.expires.map { .string("\($0)") } ?? .null,
    ]
    return parts.serialized()
  }
}

extension BuiltInOperation.SubscriptionSource.Event {
  var changeKind: ChangeKind {
    switch self {
    case .create: .create
    case .update: .update
    case .delete: .delete
    }
  }
}
