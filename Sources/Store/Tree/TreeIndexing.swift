package import MartletJSONTree
internal import MartletRuntime
internal import MartletSQLite

/// Keeps the declared indexes of a store's tree. From any thread; the work happens on the writer.
package struct TreeIndexing: Sendable {
  private let store: Store

  package init(_ store: Store) { self.store = store }

  /// Declares the orders in which children of the tree are indexed, in place of those declared before.
  ///
  /// A new index is built, and a dropped one deleted, in parts of `StoreLimits.indexedAtOnce`, each a commit of its own
  /// without an entry of the log; writes that wait are committed between them. Until an index is complete, windows in
  /// its order read the whole node. The declaration is kept: what was not finished is continued by the next process.
  package func declare(_ wanted: Set<TreeIndex>) {
    store.executor.execute {
      let indexes = store.writer.file.tree.indexes
      let present = (try? indexes.declared())?.filter { !$0.isDropped }.map(\.index)
      if present.map({ Set($0) }) == wanted { return proceed() }
      turn { try $0.indexes.declare(wanted) }
    }
  }

  /// Continues with indexes that are not complete, also after a failure such as a full disk.
  package func proceed() {
    store.executor.execute { if !isComplete { turn { _ in } } }
  }

  private func turn(_ change: (TreeTable) throws -> Void) {
    guard !store.state.withLock({ $0.isClosed }) else { return }
    let file = store.writer.file
    do throws(StoreError) {
      let most = store.limits.indexedAtOnce
      let isUnfinished = try file.transaction {
        try change(file.tree)
        return try file.tree.continueIndexing(most)
      }
      store.checkpoint()
      if isUnfinished { proceed() }
    } catch {
      file.tree.indexes.forget()
      if error.code == .failed { store.onFailure(error) }
    }
  }

  /// Whether every declared index is complete and every dropped one is gone. On the writer.
  package var isComplete: Bool {
    guard let all = try? store.writer.file.tree.indexes.declared() else { return false }
    return all.allSatisfy { !$0.isDropped && $0.next == nil }
  }
}
