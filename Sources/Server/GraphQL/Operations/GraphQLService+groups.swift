internal import MartletAccess
internal import MartletChangeFeed
internal import MartletGraphQLExecution
internal import MartletGraphQLLanguage
internal import MartletGraphQLWire
internal import MartletJSON
internal import MartletJSONTree
internal import MartletModelSDL
internal import MartletModels

extension GraphQLService {
  /// The group of a subscription that the log feeds, and its key; nil for one with a source stream of its own.
  func group(
    of prepared: PreparedOperation, _ request: RequestPayload, _ dialect: Dialect?
  ) throws -> (GraphQLGroup, GroupKey)? {
    let variables = try prepared.plan.coerce(variables: request.variables)
    let (field, arguments) = try prepared.plan.subscribedField(variables: variables)
    guard
      let group = try self.group(
        prepared, request.operationName, variables, field.name, arguments,
        refusesSeveralOperators: dialect?.refusesSeveralOperators == true)
    else { return nil }
    let added = group.control?.key ?? []
    let key = GroupKey(
      schemaVersion: node.models.version, document: prepared.canonical, operation: request.operationName ?? "",
      variables: JSONValue.object(variables).serialized(), viewer: viewer(of: prepared, group, variables) + added)
    return (group, key)
  }

  /// What a subscription on a field fed by the log listens to; nil for a field with a source stream of its own.
  ///
  /// - Parameter refusesSeveralOperators: for AppSync's clients, who mean by several operators on one field that any of
  ///   them holds.
  func group(
    _ prepared: PreparedOperation, _ operationName: String?, _ variables: JSONObject, _ field: String,
    _ arguments: JSONObject, refusesSeveralOperators: Bool = false
  ) throws -> GraphQLGroup? {
    let control = try control(field, arguments, prepared.scope.identity)
    if case .subscribe(let source)? = node.models.operations[FieldPath("Subscription", field)] {
      let model = node.models.models[source.model]
      let rights = prepared.scope.rights
      let outcome = rights?.outcome(of: source.model, for: .interest)
      try outcome?.require(.listen, field, on: "Subscription")
      let predicate = try predicate(
        source, model, field, arguments, outcome, refusesSeveralOperators: refusesSeveralOperators)
      let interests = source.events.map { event in
        Interest(.model(source.model, event.changeKind), predicate)
      }
      return GraphQLGroup(
        self, prepared, operationName: operationName, variables: variables, interests: interests,
        selection: selection(of: prepared, variables),
        mask: rights?.outcome(of: source.model, for: .payload), control: control)
    }
    if case .changes? = node.models.operations[FieldPath("Subscription", field)] {
      let changes = try ChangeSelection(
        node.models, arguments, prepared.scope.rights, FilterLimits(node.limits.query))
      return GraphQLGroup(
        self, prepared, operationName: operationName, variables: variables, interests: changes.interests,
        selection: nil, changes: changes, control: control)
    }
    if case .treeChanges? = node.models.operations[FieldPath("Subscription", field)] {
      let tree = try TreeSubscription(arguments, TreeLimits(node.limits.tree))
      return GraphQLGroup(
        self, prepared, operationName: operationName, variables: variables, interests: Interest.tree(tree.path),
        selection: nil, control: control, tree: tree)
    }
    guard let topic = node.topics[field] else { return nil }
    return GraphQLGroup(
      self, prepared, operationName: operationName, variables: variables, interests: [Interest(.topic(named: topic))],
      selection: nil, topicFilter: JSONObject(arguments.filter { !$0.value.isNull }), control: control)
  }

  /// The records that a subscription is about: those of its filter and its owner arguments, within what the rules
  /// allow.
  private func predicate(
    _ source: BuiltInOperation.SubscriptionSource, _ model: ModelDefinition, _ field: String, _ arguments: JSONObject,
    _ outcome: RuleOutcome?, refusesSeveralOperators: Bool
  ) throws -> Predicate {
    var parts: [Predicate] = []
    switch source.filter {
    case .filterArgument:
      var reader = FilterReader(model, FilterLimits(node.limits.query))
      reader.refusesSeveralOperators = refusesSeveralOperators
      parts.append(try reader.read(arguments["filter"]))
    case .equalities(let equalities):
      for equality in equalities {
        guard let value = arguments[equality.argument], !value.isNull else { continue }
        parts.append(.compare(field: equality.field, .eq(value)))
      }
    }
    for owner in source.owners {
      guard let name = arguments[owner.argument]?.string else { continue }
      if let outcome, !outcome.mayAllow(.listen, where: owner.field, names: name) {
        throw RuleRefusals.field(field, on: "Subscription")
      }
      let isList = model.fields[owner.field].isList
      parts.append(.compare(field: owner.field, isList ? .contains(.string(name)) : .eq(.string(name))))
    }
    let predicate: Predicate = parts.isEmpty ? .all : parts.count == 1 ? parts[0] : .and(parts)
    return try outcome?.checked(predicate, for: .listen, of: model) ?? predicate
  }

  /// The part of a group's key that keeps callers apart: what the rules come to for them, and their identity only where
  /// the program's own code, which may ask for it, takes part in making the payload, or where the tree's rules are
  /// asked again for it.
  func viewer(of prepared: PreparedOperation, _ group: GraphQLGroup, _ variables: JSONObject) -> [UInt8] {
    guard group.tree != nil || !group.needsRecordAlone && prepared.plan.variant(for: variables).runsUserCode else {
      return group.rules
    }
    let identity = prepared.scope.identity
    let parts: JSONValue = [
      .string(identity.provider.rawValue), identity.subject.map { .string($0) } ?? .null,
      .array(identity.groups.map { .string($0) }), .object(identity.claims),
      identity.expires.map { .string("\($0)") } ?? .null,
    ]
    return group.rules + parts.serialized()
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
