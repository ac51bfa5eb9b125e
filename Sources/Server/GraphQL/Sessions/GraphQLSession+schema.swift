internal import MartletGraphQLExecution
internal import MartletGraphQLWire
internal import MartletWire

extension GraphQLSession {
  /// Another schema is in force: ends the subscriptions whose documents are not valid under it, so that their clients
  /// ask anew.
  ///
  /// - Returns: how many those were.
  func recheckSchema() -> Int {
    let served = service.node.served
    let ended = operations.keys.sorted().filter { number in
      guard case .member(let member) = operations[number], let group = member.group as? GraphQLGroup else {
        return false
      }
      return !group.isValid(under: served)
    }
    for number in ended {
      stop(number)
      let error = ResponseError(
        "The schema has changed, and the subscription is not valid under it.", extensions: ["code": "SCHEMA_CHANGED"])
      step { $0.fail(number, errors: Self.list([error]), actions: &$1) }
    }
    return ended.count
  }
}
