internal import MartletJSONTree

/// What a listener's owner is shown.
enum TreeShowing {
  /// The value of the whole node, or of the window: at first, and when changes were dropped.
  case value(TreeNode)
  /// Changes are missing for this reason, since an offset where it is known; the whole value follows.
  case gap(String, since: Int64?)
  /// What has changed since the revision that the client resumes from, in place of the value.
  case resumed([TreeWrite])
  /// Values below the node, all of one transaction; an empty node is a deletion.
  case changes(SharedChanges)
  /// Nothing follows.
  case ended(TreeRefusal)
}

/// One node, or one window of it, that a connection listens to. Confined to its loop.
///
/// A whole node is shown each write as it is. A window is read again after a write that concerns its node, and shown
/// what differs.
final class TreeListener {
  let path: TreePath
  let window: Window
  /// What the client calls it in the messages of a socket; nil without one.
  let tag: Int64?
  var caller: TreeCaller
  private let show: (TreeListener, TreeShowing) -> Void
  /// Counts it for its caller, until it ends.
  var hold: CallerHold?
  /// Called when a read has ended, whether it showed something or not.
  var afterRead: () -> Void = {}

  /// Everything up to here has been shown; nil before the first value.
  private(set) var offset: Int64?
  /// The last offset before changes were dropped; nil when none were.
  private var dropped: Int64?
  /// The newest offset that the first value contains.
  private(set) var reached: Int64 = 0
  /// Changes that arrived while the first value was read.
  private var early: [(offset: Int64, changes: SharedChanges)] = []
  /// The window as it was shown.
  private var shown = TreeNode.empty
  /// Whether a read is under way, and whether another one is needed after it.
  private(set) var isReading = false
  private var isStale = false
  /// Whether what the read under way finds is not to be shown: it was asked for a caller who is another one now.
  private var isVoid = false
  private(set) var isEnded = false
  /// At most so many leaves are in the value of a whole node; counted when it was read, and with each change since.
  private(set) var leaves = 0
  /// Whether the leaves are being counted again.
  var isMeasured = false
  /// What the client has of the value; nil once it has been shown something.
  private(set) var resumption: TreeResumption?

  init(
    at path: TreePath, _ window: Window, tag: Int64? = nil, as caller: TreeCaller,
    resuming resumption: TreeResumption? = nil, show: @escaping (TreeListener, TreeShowing) -> Void
  ) {
    self.path = path
    self.window = window
    self.tag = tag
    self.caller = caller
    self.resumption = resumption
    self.show = show
  }

  /// A read begins; false when one is under way, after which another one is needed.
  func beginReading() -> Bool {
    guard !isReading else {
      isStale = true
      return false
    }
    isReading = true
    isStale = false
    return true
  }

  /// A read has ended with what the store had at the head that it names.
  ///
  /// - Returns: whether another read is needed.
  func received(_ found: TreeReads.Found) -> Bool {
    let (node, head) = (found.node, found.head)
    isReading = false
    resumption = nil
    if isVoid {
      isVoid = false
      return true
    }
    if window.isUnbounded { counted(found.changes == nil ? node.rowCount : found.leaves) }
    guard !isEnded else { return false }
    if offset == nil {
      shown = node
      // The owner answers with it.
      reached = head
      if let gap = found.gap ?? (dropped == nil ? nil : "slow-client") { show(self, .gap(gap, since: dropped)) }
      dropped = nil
      show(self, found.changes.map { .resumed($0) } ?? .value(node))
      offset = head
      let waiting = early
      early = []
      for (offset, changes) in waiting where offset > head {
        show(self, .changes(changes))
        self.offset = offset
      }
    } else {
      let changes = Self.difference(from: shown, to: node)
      shown = node
      offset = head
      if !changes.isEmpty { show(self, .changes(SharedChanges(changes))) }
    }
    if window.isUnbounded { shown = .empty }
    return isStale
  }

  /// Takes the changes of one transaction that concern a whole node.
  func take(_ changes: SharedChanges, at offset: Int64) {
    guard !isEnded else { return }
    guard let known = self.offset else {
      early.append((offset, changes))
      return
    }
    guard offset > known else { return }
    self.offset = offset
    leaves += changes.leaves
    show(self, .changes(changes))
  }

  /// The node was read, or counted.
  func counted(_ count: Int) { leaves = count }

  /// Changes were dropped: the next value is shown whole again.
  func restart() {
    dropped = dropped ?? offset
    offset = nil
    early = []
  }

  /// The next value is shown whole again, for another reason than changes that were dropped.
  func renew() {
    offset = nil
    early = []
    isVoid = isReading
  }

  func end(_ refusal: TreeRefusal) {
    guard !isEnded else { return }
    isEnded = true
    show(self, .ended(refusal))
  }

  func stop() {
    isEnded = true
    hold = nil
  }

  private static func difference(from old: TreeNode, to new: TreeNode) -> [TreeWrite] {
    if old.isLeaf || new.isLeaf {
      return old == new ? [] : [TreeWrite(path: .root, node: new)]
    }
    var changes: [TreeWrite] = []
    for (key, _) in old.children.entries where !new.hasChild(key) {
      changes.append(TreeWrite(path: [key], node: .empty))
    }
    for (key, node) in new.children.entries where old.child(key) != node {
      changes.append(TreeWrite(path: [key], node: node))
    }
    return changes
  }
}
