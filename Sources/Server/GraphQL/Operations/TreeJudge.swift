internal import MartletAccess
internal import MartletGraphQLExecution
internal import MartletGraphQLWire
internal import MartletJSONTree
internal import MartletModelSDL
internal import MartletModels
internal import MartletRuntime
internal import MartletTreeWire

/// Subscriptions to the tree: its rules are asked for their callers when they begin, and again when other rules are in
/// force.
struct TreeJudge {
  let service: GraphQLService

  private var node: ServerNode { service.node }
  private var tree: TreeService? { service.tree }

  /// What a subscription to the tree is about; nil for another one.
  ///
  /// - Throws: for variables that do not fit, and a path that cannot be one.
  private func subscription(of prepared: PreparedOperation, _ request: RequestPayload) throws -> TreeSubscription? {
    guard tree != nil else { return nil }
    let variables = try prepared.plan.coerce(variables: request.variables)
    let (field, arguments) = try prepared.plan.subscribedField(variables: variables)
    guard case .treeChanges? = node.models.operations[FieldPath("Subscription", field.name)] else { return nil }
    let subscription = try TreeSubscription(arguments, TreeLimits(node.limits.tree))
    if RecordTree.contains(subscription.path), tree?.reads.records() != nil {
      throw ResolverError(
        "\(subscription.path): subscribe to records by their models' own fields", extensions: ["code": "BAD_USER_INPUT"]
      )
    }
    return subscription
  }

  /// Asks whether a subscription may begin: one to the tree, of its rules. `completion` gets the errors of a refusal,
  /// at once for other subscriptions.
  func judge(
    _ prepared: PreparedOperation, _ request: RequestPayload, of operations: SessionOperations, _ number: Int,
    _ completion: @escaping ([ResponseError]) -> Void
  ) {
    do {
      guard let path = try subscription(of: prepared, request)?.path else { return completion([]) }
      operations.judges(number)
      judge(path, prepared.scope.identity) { [operations = operations.loose] errors in
        if operations.object?.judged(number) == true { completion(errors) }
      }
    } catch {
      completion(SubscriptionErrors.list(error, of: prepared, node))
    }
  }

  /// Asks whether a caller may read the tree at a path. `completion` runs on the loop, with the errors of a refusal.
  private func judge(_ path: TreePath, _ identity: Identity, _ completion: @escaping ([ResponseError]) -> Void) {
    guard let tree else { return completion([]) }
    tree.reads.judge(path, .all, as: TreeCaller(identity)) { refusal in
      guard let refusal else { return completion([]) }
      let answer = refusal.answer
      let isDenied = if case .denied = refusal { true } else { false }
      let code = isDenied ? RuleRefusals.codes : ["code": .string(answer.status)]
      completion([ResponseError("\(path): \(refusal)", extensions: code)])
    }
  }

  /// Ends the subscriptions to the tree whose callers may no longer read what they are about.
  func recheck() {
    var seen: Set<ObjectIdentifier> = []
    for case let session as GraphQLSession in service.sessionsInOrder {
      var groups: [GraphQLGroup] = []
      session.end(
        where: { group in
          if group.tree != nil, seen.insert(ObjectIdentifier(group)).inserted { groups.append(group) }
          return false
        }, "", "")
      for group in groups { recheck(group) }
    }
  }

  private func recheck(_ group: GraphQLGroup) {
    guard let path = group.tree?.path else { return }
    judge(path, group.identity) { errors in
      if !errors.isEmpty { endTree(group) }
    }
  }

  private func endTree(_ group: GraphQLGroup) {
    for case let session as GraphQLSession in service.sessionsInOrder {
      session.end(
        where: { $0 === group }, "The caller may no longer see what the subscription is about.", "ACCESS_REVOKED")
    }
  }
}
