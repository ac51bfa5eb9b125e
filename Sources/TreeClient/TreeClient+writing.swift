package import MartletJSONTree
import MartletTreeWire
package import MartletVocabulary

extension TreeClient {
  /// A write that the server has not answered.
  package struct QueuedWrite: Sendable {
    /// Names the write in this process; later writes have greater ids.
    package var id: Int64
    /// Names the write for the server, also after a restart.
    package var number: Int64
    package var path: TreePath
    package var content: Content
  }

  /// The writes that wait for their answers, oldest first.
  package var queue: [QueuedWrite] { writes.values.sorted { $0.id < $1.id } }

  /// The number of the last write.
  package var lastNumber: Int64 { wire.lastNumber }

  /// Writes: listeners see it at once, the server is asked as soon as it can be.
  ///
  /// - Parameters:
  ///   - milliseconds: this client's time since 1970, from which the server's timestamp is estimated.
  ///   - number: of a write that an earlier process made; nil makes a new one.
  ///   - base: the server's value there, as a cache has it, over which increments are shown.
  /// - Returns: the write's id, and what follows.
  /// - Throws: what the tree does not accept; nothing has changed.
  package mutating func write(
    _ content: Content, at path: TreePath, now: Instant, milliseconds: Int64, number: Int64? = nil,
    base: TreeNode = .empty
  ) throws(TreeError) -> (id: Int64, actions: [Action]) {
    let reader = TreeReader(limits: limits, serverValues: estimate(milliseconds))
    let existing = listening.engine.knownValue(at: path, over: base)
    let id = lastID + 1
    let value = try content.read(by: reader, at: path, existing: existing)
    lastID = id
    let shown = follow(value.write(to: &listening.engine, at: path, id: id), now)
    let sent = wire.request(id, content.request(at: path), now: now, number: number)
    writes[id] = QueuedWrite(id: id, number: wire.number(of: id) ?? 0, path: path, content: content)
    return (id, shown + follow(sent: sent))
  }

  mutating func settled(_ id: Int64, _ answer: TreeAnswer, _ now: Instant) -> [Action] {
    writes[id] = nil
    let outcome =
      answer.isOK
      ? listening.engine.acknowledge(id, revision: answer.revision)
      : listening.engine.reject(id, reason: "\(answer.status): \(answer.reason)")
    return follow(outcome, now) + [.settled(id, Settlement(answer, value: answer.value))]
  }

  /// Drops every write that was not answered: listeners see the server's values again. A write that is on its way may
  /// still be made.
  package mutating func purge(now: Instant) -> [Action] {
    var actions: [Action] = []
    for id in wire.dropWrites() {
      if let transaction = transactions.take(request: id) {
        actions += ended(transaction, .purged, now)
      } else if writes.removeValue(forKey: id) != nil {
        actions += follow(listening.engine.reject(id), now) + [.settled(id, .purged)]
      }
    }
    return actions
  }
}
