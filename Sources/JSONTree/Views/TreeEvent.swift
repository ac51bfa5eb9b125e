/// Names one listener of an engine.
package struct ListenerID: Hashable, Comparable, Sendable {
  package let number: Int64

  package init(_ number: Int64) {
    self.number = number
  }

  package static func < (left: ListenerID, right: ListenerID) -> Bool { left.number < right.number }
}

/// Something to report to one listener.
///
/// Within one operation a listener's events come in the order of the kinds here, and within a kind in the order of its
/// window (removed children by their old position). Listeners of deeper nodes come before those above.
package struct TreeEvent: Hashable, Sendable {
  package enum Kind: Int, Hashable, Comparable, Sendable {
    case childRemoved, childAdded, childMoved, childChanged
    /// A child that was reported unacknowledged is acknowledged with the value it was reported with.
    case childAcknowledged
    case value
    /// The value that was reported unacknowledged is acknowledged as it is.
    case valueAcknowledged
    /// The server refused a write at, above or below the listener's node. The events that take it back come before.
    case writeRejected
    /// The server ended the listener; nothing follows.
    case cancelled

    package static func < (left: Kind, right: Kind) -> Bool { left.rawValue < right.rawValue }
  }

  package var listener: ListenerID
  package var kind: Kind
  /// The node listened to.
  package var path: TreePath
  /// The child concerned; nil for the events of the node itself.
  package var key: TreeKey?
  /// The new value; of a removed child the old one; empty in the acknowledgement of a removed child.
  package var node: TreeNode
  /// The child before, inside the window after the operation; nil for the first, for removals and values.
  package var previousKey: TreeKey?
  /// Whether no pending write of this client touches the child, or the node.
  package var isAcknowledged: Bool
  /// Why a listener was ended, or a write was refused.
  package var reason: String?
  /// The write that was refused.
  package var writeID: Int64?
}
