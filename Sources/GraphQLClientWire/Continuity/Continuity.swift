package import MartletJSON

/// What Martlet adds to the GraphQL protocols, as agreed for one connection. Everything travels under the member
/// `martlet`, which other peers ignore; a peer that does not ask sees the plain protocol.
package struct Continuity: Equatable, Sendable {
  /// Events carry cursors, subscriptions become ready, can resume, and report gaps.
  package var cursors: Bool
  /// Mutations may carry a write number, so that a repeat applies once.
  package var writes: Bool

  package init(cursors: Bool = false, writes: Bool = false) {
    self.cursors = cursors
    self.writes = writes
  }

  package static let none = Continuity()
  package static let all = Continuity(cursors: true, writes: true)

  /// What the payload of `connection_init` asks for, or that of `connection_ack` grants.
  package init(payload: JSONObject?) {
    let member = payload?["martlet"]
    cursors = member?["cursors"]?.bool ?? false
    writes = member?["writes"]?.bool ?? false
  }

  /// What both want.
  package func intersection(_ other: Continuity) -> Continuity {
    Continuity(cursors: cursors && other.cursors, writes: writes && other.writes)
  }

  /// `payload` with the member `martlet` that says this; unchanged when there is nothing to say.
  package func added(to payload: JSONObject?) -> JSONObject? {
    if self == .none { return payload }
    var member = JSONObject()
    if cursors { member["cursors"] = .bool(true) }
    if writes { member["writes"] = .bool(true) }
    var payload = payload ?? JSONObject()
    payload["martlet"] = .object(member)
    return payload
  }
}
