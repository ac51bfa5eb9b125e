internal import MartletJSONTree

/// What a listener's owner is shown.
enum TreeShowing {
  /// The value of the whole node, or of the window: at first, and when changes were dropped.
  case value(TreeNode)
  /// Changes are missing for this reason, since an offset where it is known; the whole value follows.
  case gap(String, since: Int64?)
  /// A part of the value of a whole node: it begins the value with number 0, and nothing follows the last one.
  case part(TreeNode, number: Int64, isLast: Bool)
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
  /// Whether the client gets changes without their values.
  let isWatch: Bool
  /// What the client calls it in the messages of a socket; nil without one.
  let tag: Int64?
  var caller: TreeCaller
  /// Counts the listeners of the loop, in the order in which they came.
  var serial = 0
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
  /// How a large value may be shown in parts; nil shows it whole.
  var parts: TreeParts?
  /// The value that is being shown in parts.
  private var load: TreeLoad?
  /// Changes that arrived while the first value was read, and what they count for a value in parts.
  private var early: [(offset: Int64, changes: SharedChanges)] = []
  private var earlyCount = 0
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
    at path: TreePath, _ window: Window, isWatch: Bool = false, tag: Int64? = nil, as caller: TreeCaller,
    resuming resumption: TreeResumption? = nil, show: @escaping (TreeListener, TreeShowing) -> Void
  ) {
    self.path = path
    self.window = window
    self.isWatch = isWatch
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

  /// Which part of the value is to be read; nil for all of it.
  var unreadPart: TreeReads.Part? {
    guard offset == nil, !isWatch, let parts else { return nil }
    return TreeReads.Part(after: load?.last, bytes: parts.bytes)
  }

  /// Whether what a read found is a part of the value.
  func isPart(_ found: TreeReads.Found) -> Bool { load != nil || found.last != nil }

  /// Whether the value, or more of it, has not been read.
  var isUnread: Bool { offset == nil && !isEnded }

  /// Whether something of the value is still to be shown.
  var isWaiting: Bool { isReading || isUnread }

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
    if isPart(found) {
      receivedPart(found)
      return false
    }
    if window.isUnbounded { counted(found.changes == nil ? node.rowCount : found.leaves) }
    guard !isEnded else { return false }
    if offset == nil {
      shown = node
      // The owner answers with it.
      reached = head
      showGap(found)
      show(self, found.changes.map { .resumed($0) } ?? .value(node))
      offset = head
      let waiting = early
      forgetEarly()
      for (offset, changes) in waiting where offset > head {
        show(self, .changes(changes))
        self.offset = offset
      }
    } else {
      let changes = Self.difference(from: shown, to: node)
      shown = node
      offset = head
      if !changes.isEmpty { show(self, .changes(SharedChanges(changes, at: head))) }
    }
    if window.isUnbounded { shown = .empty }
    return isStale
  }

  /// Shows a part of the value, and then what has changed meanwhile of what was shown.
  ///
  /// A part has its rows as they were at the head of its read; the changes that arrived since the read began follow it,
  /// those that it contains included, so that the rows end as the last change left them. Before the value is whole,
  /// what the client has of it may have been at no time; it shows nothing of it until then.
  private func receivedPart(_ found: TreeReads.Found) {
    guard !isEnded else { return }
    let number = load?.number ?? 0
    if number == 0 {
      counted(found.leaves)
      reached = found.head
      showGap(found)
    }
    show(self, .part(found.node, number: number, isLast: false))
    let shown = early
    forgetEarly()
    for (_, changes) in shown { show(self, .changes(changes)) }
    reached = max(reached, found.head, shown.last?.offset ?? 0)
    guard found.last == nil else {
      load = TreeLoad(last: found.last, number: number + 1)
      return
    }
    load = nil
    offset = reached
    show(self, .part(.empty, number: number + 1, isLast: true))
  }

  private func showGap(_ found: TreeReads.Found) {
    if let gap = found.gap ?? (dropped == nil ? nil : "slow-client") { show(self, .gap(gap, since: dropped)) }
    dropped = nil
  }

  private func forgetEarly() { (early, earlyCount) = ([], 0) }

  /// Keeps changes that arrived before the value was whole.
  private func keep(_ changes: SharedChanges, at offset: Int64) {
    if !isReading {
      // The next read contains what is written now; only what was shown already has to be shown again.
      guard let load, load.concerns(changes, at: path) else { return }
    }
    early.append((offset, changes))
    earlyCount += changes.leaves + changes.writes.count
    guard load != nil, let parts, earlyCount > parts.mostEarly else { return }
    // Too much to keep: the value is read from its beginning.
    load = nil
    isVoid = isReading
    forgetEarly()
  }

  /// Takes the changes of one transaction that concern a whole node.
  func take(_ changes: SharedChanges, at offset: Int64) {
    guard !isEnded else { return }
    guard let known = self.offset else {
      keep(changes, at: offset)
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
    renew()
  }

  /// The next value is shown whole again, for another reason than changes that were dropped. What a read under way
  /// finds is not shown: the changes since it began are not kept.
  func renew() {
    offset = nil
    load = nil
    forgetEarly()
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

extension Collection<TreeListener> {
  /// In the order in which they came.
  var inOrder: [TreeListener] { sorted { $0.serial < $1.serial } }
}
