internal import MartletChangeFeed
internal import MartletGraphQLExecution
internal import MartletGraphQLLanguage
internal import MartletJSON
internal import MartletModelSchema
internal import MartletStore
internal import MartletWireProtocols

extension LoopHub {
  /// What a subscription on a field fed by the log listens to; nil for a field with a source stream of its own.
  ///
  /// - Parameter refusesSeveralOperators: for AppSync's clients, who mean by several operators on one field that any of
  ///   them holds.
  func group(
    _ prepared: PreparedOperation, _ operationName: String?, _ variables: JSONObject, _ field: String,
    _ arguments: JSONObject, refusesSeveralOperators: Bool = false
  ) throws -> GroupState? {
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
      return GroupState(
        prepared, operationName: operationName, variables: variables, interests: interests,
        selection: shared(RecordSelection(prepared.plan, variables: variables)))
    }
    guard let topic = node.topics[field] else { return nil }
    return GroupState(
      prepared, operationName: operationName, variables: variables, interests: [Interest(.topic(named: topic))],
      selection: nil, topicFilter: JSONObject(arguments.filter { !$0.value.isNull }))
  }

  /// The selection kept for an equal one. They are few: clients differ in what they filter, hardly in what they select.
  private func shared(_ selection: RecordSelection?) -> RecordSelection? {
    guard let selection else { return nil }
    let signature = selection.signature
    if let known = selections[signature] { return known }
    if selections.count >= node.limits.cachedPlans { selections.removeAll() }
    selections[signature] = selection
    return selection
  }

  /// The scope of one request: where its answers go and, for a numbered write, its number.
  func scope(for plan: OperationPlan, _ extensions: JSONObject) throws(ResolverError) -> RequestScope {
    let continuity: RequestContinuity
    do {
      continuity = try RequestContinuity(extensions: extensions)
    } catch {
      throw ResolverError(error.description, extensions: ["code": "BAD_USER_INPUT"])
    }
    guard plan.kind == .mutation, let write = continuity.write else { return RequestScope(destination: destination) }
    let fields = plan.variant(for: JSONObject()).selection.fields
    guard fields.count == 1 else {
      throw ResolverError(
        "A numbered write has exactly one mutation field.", extensions: ["code": "BAD_USER_INPUT"])
    }
    return RequestScope(
      destination: destination, writeID: WriteID(client: write.client, number: Int64(clamping: write.number)))
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
