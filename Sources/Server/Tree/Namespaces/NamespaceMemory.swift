/// What each open namespace gets of the memory for all of them (`tree.namespaceBytes`).
///
/// Every namespace gets the same part, whether the others are open or not, so that opening one takes nothing from
/// another. Values that a request writes or reads are not in it: they belong to the request, and nothing keeps them
/// after it but recent changes.
package struct NamespaceMemory {
  /// Connections, compiled statements and first pages of an open namespace: 0.5 MiB measured.
  package static let fixedBytes = 655_360
  /// The smallest part that leaves room for some pages and changes.
  package static let smallestShare = 1_048_576

  /// Namespaces that can be declared: `tree.namespaces`, or as many as the memory holds.
  package let most: Int
  /// Page cache of each of the two connections.
  package let cacheKiB: Int32
  /// Recent changes. One that is larger is read from the log.
  package let ringBytes: Int

  package init(_ limits: ServerLimits.Tree) {
    most = min(limits.namespaces, limits.namespaceBytes / Self.smallestShare)
    let free = max(0, limits.namespaceBytes / max(1, most) - Self.fixedBytes)
    cacheKiB = Int32(clamping: max(64, free / 4 / 1_024))
    ringBytes = free / 2
  }
}
