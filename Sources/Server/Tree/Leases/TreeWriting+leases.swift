internal import MartletJSONTree
internal import MartletRuntime
internal import MartletStore
internal import MartletTreeRules

extension TreeWriting {
  /// Keeps a write for the end of its owner's session, when the caller may make it now.
  ///
  /// What the client has left before and this connection has not left yet is the same write: nothing is logged then.
  /// - Returns: the write's number.
  func leave(
    _ write: LeftWrite, of owner: String, _ left: LeftNumbers, in transaction: WriteTransaction
  ) throws -> Int64 {
    _ = try judge(write.request, write.caller, transaction)
    for kept in try transaction.deferredWrites(of: owner) where !left.contains(kept.number) {
      guard let other = LeftWrite(kept.body), other.isSame(as: write) else { continue }
      if other.makerDiffers(from: write) { try transaction.replaceDeferred(kept, with: write.bytes) }
      return kept.number
    }
    return try transaction.deferWrite(write.bytes, of: owner).number
  }

  /// Drops what the owner has left at and below a path.
  /// - Returns: the numbers of the dropped writes.
  func cancel(at path: TreePath, of owner: String, in transaction: WriteTransaction) throws -> [Int64] {
    let dropped = try transaction.deferredWrites(of: owner)
      .filter { LeftWrite($0.body).map { path.contains($0.path) } ?? false }.map(\.number)
    if !dropped.isEmpty { try transaction.removeDeferred(of: owner, dropped) }
    return dropped
  }

  /// Notes that the credentials of a caller have ended, or that it has shown others: what it has left is made with the
  /// rights that it has then.
  func note(_ caller: TreeCaller, isWithdrawn: Bool, of owner: String, in transaction: WriteTransaction) throws {
    for kept in try transaction.deferredWrites(of: owner) {
      guard var write = LeftWrite(kept.body), write.isOf(caller), write.isWithdrawn != isWithdrawn else { continue }
      write.isWithdrawn = isWithdrawn
      if !isWithdrawn { write.caller = caller }
      try transaction.replaceDeferred(kept, with: write.bytes)
    }
  }

  /// Makes what a client has left, each write as a transaction of its own. The rules are asked a second time, by the
  /// caller as it stands now; what they refuse is dropped, and logged.
  func expire(_ due: TreeLeases.Due, in transaction: WriteTransaction) throws {
    let kept = try transaction.deferredWrites(of: due.owner)
    let left = kept.map { ($0.number, LeftWrite($0.body)) }.filter { $0.1.map { $0.grace <= due.grace } ?? true }
    guard !left.isEmpty else { return }
    for case (_, let write?) in left {
      var refusal: (any Error)?
      do {
        try transaction.separately {
          do { _ = try run(write.request, write.maker(under: access), transaction) } catch {
            refusal = error
            throw error
          }
        }
      } catch {
        // The rules, or the tree's limits; there is no connection left for the refusal.
        if error.code != .aborted, error.code != .invalid { throw error }
        let reason = (refusal as? TreeRefusal)?.description ?? error.message
        log.write(
          .warning, "A write that was left for the end of a session is refused.",
          [(.path, write.path.description), (.reason, reason)])
      }
    }
    try transaction.removeDeferred(of: due.owner, left.count == kept.count ? [] : left.map(\.0))
  }
}
