internal import MartletAccess

/// The lines of the audit log: who connected, what was refused, and by which rule. Values of records, variables and
/// credentials are never in them.
struct Audit: Sendable {
  let log: Log?

  /// - Parameter log: nil writes nothing, and nothing is collected for it.
  init(_ log: Log?) {
    self.log = log
  }

  /// A caller was admitted: to a socket, a stream, or for requests over HTTP.
  func connected(_ identity: Identity, _ peer: Peer, over protocolName: String) {
    guard let log else { return }
    log.write(
      .info, "A caller was admitted.", [(.client, peer.text), (.protocol, protocolName)] + Self.who(identity))
  }

  /// Credentials were not accepted, for a stable reason.
  func refused(_ peer: Peer?, reason: String?) {
    guard let log else { return }
    log.write(
      .warning, "Credentials were refused.", [(.client, peer?.text ?? "unknown"), (.reason, reason ?? "program")])
  }

  /// What a caller was admitted to was ended: its credentials were withdrawn or have expired.
  func withdrawn(_ identity: Identity, _ peer: Peer, reason: String) {
    guard let log else { return }
    log.write(.info, "Access was withdrawn.", [(.client, peer.text), (.reason, reason)] + Self.who(identity))
  }

  /// A caller has used what it may use.
  func limited(_ identity: Identity, _ peer: Peer, limit: String) {
    guard let log else { return }
    log.write(
      .warning, "A limit of the caller was reached.",
      [(.client, peer.text), (.rule, limit)] + Self.who(identity))
  }

  /// The rules of the tree refused a read or a write. The rule has the path's variables, not their values.
  func denied(_ rule: String, _ identity: Identity, _ peer: Peer) {
    guard let log else { return }
    log.write(
      .warning, "A request was refused by the rules of the tree.",
      [(.client, peer.text), (.rule, rule)] + Self.who(identity))
  }

  /// The caller, in a line.
  static func who(_ identity: Identity) -> [(key: Log.Key, value: String)] {
    [(.provider, identity.provider.rawValue)] + (identity.subject.map { [(.subject, $0)] } ?? [])
  }
}
