internal import MartletAccess
internal import MartletChangeFeed
internal import MartletGraphQLExecution
internal import MartletGraphQLLanguage
internal import MartletJSON
internal import MartletModelSchema
internal import MartletVocabulary

/// The group of equal GraphQL subscriptions: how a change becomes their result. Confined to its loop.
///
/// Where the record alone answers the selection, the selection is kept (and shared with equal ones) and the plan let
/// go.
final class GraphQLGroup: FeedGroup {
  private unowned let service: GraphQLService
  private let variables: JSONObject
  let interests: [Interest]
  /// Writes the payload straight from the record, where the record alone answers the selection.
  private let selection: RecordSelection?
  /// For fields fed by a topic: members of the payload that must equal the subscription's arguments.
  private let topicFilter: JSONObject
  /// The canonical document and the operation's name: what the plan is made from again when it is needed after all.
  private let document: [UInt8]
  private let operationName: String?
  /// The caller for whom the group's resolvers run. Members share a group only where no resolver can distinguish them.
  private let identity: Identity
  /// Kept where every event needs it.
  private let plan: OperationPlan?

  init(
    _ service: GraphQLService, _ prepared: PreparedOperation, operationName: String?, variables: JSONObject,
    interests: [Interest], selection: RecordSelection?, topicFilter: JSONObject = JSONObject()
  ) {
    self.service = service
    self.variables = variables
    self.interests = interests
    self.selection = selection
    self.topicFilter = topicFilter
    self.operationName = operationName
    identity = prepared.scope.identity
    document = prepared.canonical
    plan = selection == nil ? prepared.plan : nil
  }

  /// The schema that the group was judged under last, and whether its document is valid there.
  private var judged: (schema: ServedSchema, isValid: Bool)?

  /// Whether the group's document is a subscription under a schema.
  func isValid(under served: ServedSchema) -> Bool {
    if let judged, judged.schema === served { return judged.isValid }
    let plan = try? served.schema.makePlan(document, operationName: operationName)
    let isValid = plan?.kind == .subscription
    judged = (served, isValid)
    return isValid
  }

  /// Whether payloads are written from the record, without resolvers.
  var needsRecordAlone: Bool { selection != nil }

  /// A record's update is for a subscription whose filter the record matches after it. A topic's event is when every
  /// argument equals the payload's member of its name.
  func accepts(_ change: Change, _ effect: Effect) -> Bool {
    if let record = change.record { return effect != .left || record.kind == .delete }
    guard let event = change.event else { return false }
    return topicFilter.allSatisfy { event.payload[$0.key] == $0.value }
  }

  func encode(_ change: Change, into writer: inout JSONWriter) -> Bool {
    guard let selection, let record = change.record else { return false }
    return selection.write(record.image.values, to: &writer)
  }

  func evaluate(_ change: Change, _ completion: @escaping ([UInt8]) -> Void) {
    let node = service.node
    let root: ResolvedValue =
      switch change.body {
      case .record(let record):
        .record(RecordValue(typeName: node.models.models[record.model].name, slots: record.image.values))
      case .event(let event): .value(event.payload)
      case .tree: .value(.null)
      }
    guard let plan = plan ?? (try? node.schema.makePlan(document, operationName: operationName)) else {
      preconditionFailure("a subscription's canonical document can be planned again")
    }
    let scope = RequestScope(destination: service.feed.destination, identity: identity)
    service.runner.run(plan, coerced: variables, root: root, scope: scope) { completion($0.bytes) }
  }

  func event(_ payload: [UInt8], at cursor: Cursor, endsTransaction: Bool) -> FeedEvent {
    GraphQLEvent(payload, at: cursor, endsTransaction: endsTransaction)
  }
}
