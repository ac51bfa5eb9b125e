import MartletJSONTree
import MartletTreeWire

/// The values that a server sends in parts, until they are whole.
///
/// Nothing of such a value is shown before: its parts were read at different moments, and the changes between them are
/// joined to what is there.
struct Loads: Sendable {
  private struct Load: Sendable {
    var value = TreeNode.empty
    /// Of the next part.
    var number: Int64 = 0
  }

  private var loads: [TreePath: Load] = [:]

  /// Takes a part of the node at `path`. Number 0 is the first one, whatever has come before; a part that does not
  /// follow the last one is ignored.
  ///
  /// - Returns: the value, when it is whole.
  mutating func take(_ node: TreeNode, of path: TreePath, _ part: TreePush.Part) -> TreeNode? {
    var load = part.number == 0 ? Load() : loads.removeValue(forKey: path) ?? Load()
    guard load.number == part.number else { return nil }
    load.value = load.value.joined(with: node)
    load.number += 1
    loads[path] = part.isLast ? nil : load
    return part.isLast ? load.value : nil
  }

  /// Takes a change for the value that is being loaded at or above its path.
  ///
  /// - Returns: false when there is none.
  mutating func take(_ change: PushedChange) -> Bool {
    guard change.tag == nil, let path = loads.keys.first(where: { $0.contains(change.path) }),
      let relative = change.path.relative(to: path), var load = loads.removeValue(forKey: path)
    else { return false }
    for write in change.writes { load.value = load.value.setting(relative.appending(write.path), to: write.node) }
    loads[path] = load
    return true
  }

  /// Forgets what has come of a value.
  mutating func drop(_ path: TreePath) { loads[path] = nil }

  /// The connection has ended: the next one starts from the first part.
  mutating func dropAll() { loads = [:] }
}
