internal import MartletJSONTree

/// Something that happened to a node or to one of its children.
public struct DatasyncEvent: Sendable {
  /// Which kind it is; one flag is set.
  public let eventType: DatasyncEventType
  /// The new value; of a removed child the old one; null in the acknowledgement of a removal.
  ///
  /// An event without data has none: `data()` throws, and this is null.
  public let value: DatasyncValue
  /// The child's key; for events of the value the node's own, which is empty for the root.
  public let key: String
  /// The key of the child before, inside the window; nil for the first, for removals and for values.
  public let previousChildKey: String?
  /// What the server refused, for rejections.
  public let rejection: DatasyncRejection?
  /// What is missing, for gaps.
  public let gap: DatasyncGap?
  let path: TreePath
  weak let manager: DatasyncManager?
  weak let source: DatasyncSubscription?
  let carriesData: Bool

  /// The child, or the node itself; nil when the manager has gone.
  public var node: DatasyncNode? { manager.map { DatasyncNode(path, $0) } }
  /// The subscription, with which it can be ended here; nil when it has gone.
  public var subscription: DatasyncSubscription? { source }
  /// Whether the server has accepted it.
  public var isAcknowledged: Bool { value.isAcknowledged }
  /// Whether the server has accepted it.
  public var acked: Bool { value.isAcknowledged }

  /// The value.
  /// - Throws: `withoutData` for an event that carries none.
  public func data() throws(DatasyncError) -> DatasyncValue {
    guard carriesData else { throw DatasyncError(.withoutData, "\(path): the event carries no data") }
    return value
  }
}

/// A write that the server refused.
public struct DatasyncRejection: Sendable, Hashable {
  /// The write, as its handle names it.
  public let writeID: Int64
  /// The server's reason; of the rules, the path and the rule.
  public let reason: String
}

/// Changes that a subscription was not shown and will not be: only the value after them is known.
public struct DatasyncGap: Sendable, Hashable {
  /// Why changes are missing.
  public enum Reason: Sendable, Hashable {
    /// The server has forgotten what was written so long ago.
    case retention
    /// The server's data is not what it was: another copy of it, or one that was restored.
    case otherData
    /// More was written than the server looks through.
    case tooManyChanges
    /// The client did not take in what the server sent, which then dropped it.
    case slowClient
    /// Another reason, in the server's word.
    case other(String)
  }

  /// Why.
  public let reason: Reason
  /// The revision up to which changes were shown; nil when the server does not know it.
  public let from: String?
  /// The revision of the value that follows.
  public let to: String
}

/// How a subscription ended.
public enum DatasyncCompletion: Sendable {
  /// By `cancel()`, or because its manager has gone.
  case cancellation
  /// By the server, or because it could not begin.
  case revocation(reason: DatasyncRevocation)
}

/// Why a subscription was revoked.
public struct DatasyncRevocation: Sendable, Hashable, CustomStringConvertible {
  /// What kind of cause it is.
  public enum Kind: Sendable, Hashable {
    /// The rules do not allow reading the node.
    case rules
    /// The node, or what of it is read, is too large.
    case size
    /// The credentials are not accepted, and no others were given.
    case authentication
    /// The consumer did not take its events in time.
    case overflow
    /// What was asked for is not possible: acknowledgements alone, a path that is too deep, no server.
    case request
    /// Another reason of the server.
    case other
  }

  /// What kind of cause it is.
  public let kind: Kind
  /// The cause in words.
  public let message: String

  init(_ kind: Kind, _ message: String) {
    self.kind = kind
    self.message = message
  }

  /// The server's words.
  init(server text: String) {
    let status = String(text.prefix { $0 != ":" })
    let kind: Kind =
      switch status {
      case "permission_denied": .rules
      case "too_big": .size
      case "invalid_path", "limit_exceeded": .request
      default: .other
      }
    self.init(kind, text)
  }

  /// The same as `message`.
  public var description: String { message }
}
