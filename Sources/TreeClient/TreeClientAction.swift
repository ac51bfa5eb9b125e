package import MartletJSON
package import MartletJSONTree
package import MartletTreeWire

extension TreeClient {
  /// What the owner of the machine has to do.
  package enum Action: Sendable {
    /// Send these frames, in order.
    case send([String])
    /// The server's greeting has arrived; `session` names the connection.
    case connected(session: String)
    /// Something to report to a listener.
    case event(TreeEvent)
    /// The server has confirmed the listen that covers this listener: every later change will be reported.
    case ready(ListenerID)
    /// Values are missing for this listener; the whole value follows.
    case gap(ListenerID, TreePush.Gap)
    /// A write, a deferred write or a transaction has ended.
    case settled(Int64, Settlement)
    /// The server has registered a deferred write for the present connection.
    case registered(Int64)
    /// A read has ended.
    case read(Int64, Reading)
    /// Compute a transaction's next value from this one and call `computed`. An empty node is one that does not exist.
    case compute(Int64, TreeNode)
    /// The server's value of a listener has changed; a cache should write it soon.
    case changed(Query)
    /// The server has ended the listeners of a query. Without a last value reading was revoked, and a cache must not
    /// show it any longer; with one the node became too large, and the application decides what stays.
    case forget(Query, last: CachedValue?)
    /// The server accepted the credential, or refused it with this reason.
    case credential(refused: String?)
    /// The server withdrew the credential.
    case revoked(reason: String)
    /// Connect to this host.
    case reset(host: String)
    /// Close and do not come back.
    case shutDown(reason: String)
    /// Close the connection; what the server sent is refused.
    case close(TreeWireError)
  }

  /// One node, or one window of it, or a node whose changes are watched without its values.
  package struct Query: Hashable, Sendable {
    package var path: TreePath
    package var window: Window
    /// Whether there are no values, only the changes of a whole node.
    package var isWatch = false

    package init(_ path: TreePath, _ window: Window) {
      self.path = path
      self.window = window
    }

    /// The changes of a node without its values.
    static func watch(_ path: TreePath) -> Query {
      var query = Query(path, .all)
      query.isWatch = true
      return query
    }
  }

  /// How a write ended: one of these for each write.
  package enum Settlement: Sendable {
    /// - Parameters:
    ///   - revision: of the write; nil from servers that do not say.
    ///   - value: what a server value became; null when the server does not say.
    case acknowledged(revision: String?, value: JSONValue)
    /// - Parameter status: the protocol's word, such as `permission_denied`.
    case rejected(status: String, reason: String)
    /// The application dropped the write before it was answered.
    case purged
    /// A transaction's function returned no value.
    case aborted
  }

  /// What a read found.
  package enum Reading: Sendable {
    /// - Parameters:
    ///   - revision: of the value, as far as it is known.
    ///   - isAcknowledged: whether no pending write of this client is part of it.
    case server(TreeNode, revision: String?, isAcknowledged: Bool)
    /// The server was not reached: the value is the last one known.
    ///
    /// - Parameter seen: when it was last known to be the server's, in milliseconds since 1970.
    case cache(TreeNode, revision: String?, seen: Int64?, isAcknowledged: Bool)
    /// The server was not reached, and part of the value is not known.
    case unknown
    /// The server refused it.
    case refused(status: String, reason: String)
  }
}

extension TreeClient.Settlement {
  /// - Parameter value: what the write put there, when the server has made it.
  init(_ answer: TreeAnswer, value: JSONValue) {
    self =
      answer.isOK
      ? .acknowledged(revision: answer.revision, value: value)
      : .rejected(status: answer.status, reason: answer.reason)
  }
}

extension TreeAnswer {
  /// Why it is not ok: the text beside the status, or the status.
  var reason: String { data.string ?? status }

  /// What a server value became; null when the server does not say.
  var value: JSONValue { data.object?.isEmpty == true ? .null : data }
}
