internal import MartletAccess
internal import MartletChangeFeed
internal import MartletGraphQLExecution
internal import MartletGraphQLWire
internal import MartletWire

extension SessionOperations {
  /// Another schema is in force. Subscriptions whose documents are not valid under it end, so that their clients ask
  /// again. Those whose callers have other rights under it continue by the new rules, and end where no rule allows
  /// them.
  ///
  /// - Returns: how many ended.
  func recheckSchema() -> Int {
    let served = service.node.served
    var ended = 0
    for number in operations.numbers {
      guard case .member(let member) = operations[number], let group = member.group as? GraphQLGroup else { continue }
      guard group.isValid(under: served) else {
        end(number, "The schema has changed, and the subscription is not valid under it.", "SCHEMA_CHANGED")
        ended += 1
        continue
      }
      let caller = ownCallers[number] ?? caller.current
      if group.hasSameRules(for: caller.identity, under: served) { continue }
      if !move(member, group, to: caller) { ended += 1 }
    }
    return ended
  }

  /// Ends the subscriptions of some groups with an error that says why.
  func end(where isEnded: (GraphQLGroup) -> Bool, _ reason: String, _ code: String) {
    for number in operations.numbers {
      guard case .member(let member) = operations[number], let group = member.group as? GraphQLGroup, isEnded(group)
      else { continue }
      end(number, reason, code)
    }
  }

  /// The caller has other rights than before: its subscriptions continue by those.
  func recheckRights() {
    let served = service.node.served
    for number in operations.numbers where ownCallers[number] == nil {
      guard case .member(let member) = operations[number], let group = member.group as? GraphQLGroup else { continue }
      if group.hasSameRules(for: caller.current.identity, under: served) { continue }
      _ = move(member, group, to: caller.current)
    }
  }

  /// Has a subscription continue by the rules in force, from the offset up to which it has been served.
  ///
  /// A client that follows cursors gets a gap, because what it holds was seen by other rules. False when no rule allows
  /// the subscription now, and it has ended.
  private func move(_ member: Member, _ group: GraphQLGroup, to caller: Caller) -> Bool {
    let number = member.number
    let request = RequestPayload(
      query: String(decoding: group.document, as: UTF8.self), operationName: group.operationName,
      variables: group.variables)
    guard case .success(let prepared) = service.prepare(request, for: caller),
      let (next, key) = try? service.group(of: prepared, request, link.machine.dialect)
    else {
      end(number, "The caller may no longer see what the subscription is about.", "ACCESS_REVOKED")
      return false
    }
    let served = service.feed.servedOffset(of: member)
    let wasReady = !member.owesReady
    service.feed.remove(member)
    let moved = Member(
      number: number, prefix: member.prefix, hasCursors: member.hasCursors, subscriber: self,
      since: service.feed.applied)
    do {
      try service.feed.add(moved, to: next, key: key)
    } catch {
      end(number, error.description, "TOO_MANY_FILTERS")
      return false
    }
    replace(moved)
    if moved.hasCursors {
      service.feed.declareGap(moved, .viewChanged, from: service.feed.cursor(at: served), owesReady: true)
    } else {
      service.feed.catchUp(moved, after: served, owesReady: !wasReady)
    }
    return true
  }
}

extension GraphQLGroup {
  /// Whether the rules of a schema come to the same for a caller as those by which the group was made.
  func hasSameRules(for identity: Identity, under served: ServedSchema) -> Bool {
    rulesDigest(Rights.of(identity, under: served)) == rules
  }
}
