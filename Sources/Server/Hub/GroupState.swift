internal import MartletChangeFeed
internal import MartletGraphQLExecution
internal import MartletJSON
internal import MartletModelSchema

/// What the members of one group share: how an event becomes their payload. Confined to its loop.
///
/// There may be one per subscriber, when all filters differ, so it is small: where the record alone answers the
/// selection, the selection is kept (and shared with equal ones) and the plan let go.
package final class GroupState {
  let variables: JSONObject
  let interests: [Interest]
  /// Writes the payload straight from the record, where the record alone answers the selection.
  let selection: RecordSelection?
  /// For fields fed by a topic: members of the payload that must equal the subscription's arguments.
  let topicFilter: JSONObject
  /// The canonical document and the operation's name: what the plan is made from again when it is needed after all.
  let document: [UInt8]
  let operationName: String?
  /// Kept where every event needs it.
  private let plan: OperationPlan?
  /// Events whose evaluation waits for the store or for user code, in order; the first is under way.
  var waiting: [Change] = []

  init(
    _ prepared: PreparedOperation, operationName: String?, variables: JSONObject, interests: [Interest],
    selection: RecordSelection?, topicFilter: JSONObject = JSONObject()
  ) {
    self.variables = variables
    self.interests = interests
    self.selection = selection
    self.topicFilter = topicFilter
    self.operationName = operationName
    document = prepared.canonical
    plan = selection == nil ? prepared.plan : nil
  }

  /// The plan; made again from the document where it was let go.
  func plan(in schema: ExecutableSchema) -> OperationPlan? {
    if let plan { return plan }
    return try? schema.makePlan(document, operationName: operationName)
  }

  /// Whether a change concerns the group; for catch-up, where no index helps.
  func concerns(_ change: Change) -> Bool {
    let image = change.record?.image ?? Record(values: [])
    guard interests.contains(where: { $0.channel == change.channel && $0.predicate.matches(image) }) else {
      return false
    }
    return change.event.map(passesTopicFilter) ?? true
  }

  /// A topic's event reaches a subscription when every argument equals the payload's member of its name.
  func passesTopicFilter(_ event: TopicEvent) -> Bool {
    topicFilter.allSatisfy { event.payload[$0.key] == $0.value }
  }

  /// Writes the payload without waiting; false when the plan has to be executed.
  func encode(_ change: Change, into writer: inout JSONWriter) -> Bool {
    guard let selection, let record = change.record else { return false }
    return selection.write(record.image.values, to: &writer)
  }
}
