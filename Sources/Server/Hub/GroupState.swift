internal import MartletChangeFeed
internal import MartletGraphQLExecution
internal import MartletJSON
internal import MartletModelSchema

/// What the members of one group share: how an event becomes their payload. Confined to its loop.
package final class GroupState {
  let plan: OperationPlan
  let variables: JSONObject
  let interests: [Interest]
  /// Writes the payload straight from the record, where the record alone answers the selection.
  let selection: RecordSelection?
  /// For fields fed by a topic: members of the payload that must equal the subscription's arguments.
  let topicFilter: JSONObject
  /// Events whose evaluation waits for the store or for user code, in order; the first is under way.
  var waiting: [Change] = []

  init(plan: OperationPlan, variables: JSONObject, interests: [Interest], topicFilter: JSONObject = JSONObject()) {
    self.plan = plan
    self.variables = variables
    self.interests = interests
    self.topicFilter = topicFilter
    selection = RecordSelection(plan, variables: variables)
  }

  /// Whether a change concerns the group; for catch-up, where no index helps.
  func concerns(_ change: Change) -> Bool {
    guard interests.contains(where: { $0.channel == change.channel && $0.predicate.matches(change.image) }) else {
      return false
    }
    return change.kind != .event || passesTopicFilter(change)
  }

  /// A topic's event reaches a subscription when every argument equals the payload's member of its name.
  func passesTopicFilter(_ change: Change) -> Bool {
    topicFilter.allSatisfy { change.payload[$0.key] == $0.value }
  }

  /// The payload without waiting; nil when executing the plan is needed.
  func encode(_ change: Change, into writer: inout JSONWriter) -> Bool {
    guard let selection, change.kind != .event else { return false }
    return selection.write(change.image.values, to: &writer)
  }
}
