package import MartletJSON
package import MartletJSONTree
import MartletTreeWire
package import MartletVocabulary

extension TreeClient {
  /// How often a transaction's function runs before it is given up. 25 is the Realtime Database's number.
  package static let transactionRuns = 25

  /// Begins a transaction: the server's value is read first.
  package mutating func transact(at path: TreePath, now: Instant) -> (id: Int64, actions: [Action]) {
    let id = nextID()
    transactions.begin(id, at: path)
    return (id, readBase(id, now))
  }

  private mutating func readBase(_ id: Int64, _ now: Instant) -> [Action] {
    guard let path = transactions.path(of: id) else { return [] }
    let request = nextID()
    transactions.read(id, by: request)
    return follow(sent: wire.request(request, .get(path, .all), now: now))
  }

  /// The function's result for the value of `compute`; nil aborts the transaction.
  ///
  /// - Throws: what the tree does not accept; the transaction has ended.
  package mutating func computed(
    _ id: Int64, _ json: JSONValue?, now: Instant, milliseconds: Int64
  ) throws(TreeError) -> [Action] {
    guard let path = transactions.path(of: id) else { return [] }
    guard let json else { return ended(id, .aborted, now) }
    let base = transactions.base(of: id)
    let reader = TreeReader(limits: limits, serverValues: estimate(milliseconds))
    let node: TreeNode
    do { node = try reader.read(json, at: path, existing: base) } catch {
      _ = transactions.end(id)
      throw error
    }
    let request = nextID()
    transactions.write(node.exportedJSON(), of: id, by: request)
    let actions = follow(listening.engine.overwrite(path, with: node, id: request), now)
    let put = TreeRequest.put(path, json, expectedHash: TreeHash.hash(base))
    return actions + follow(sent: wire.request(request, put, now: now))
  }

  mutating func stepped(_ id: Int64, _ request: Int64, _ answer: TreeAnswer, _ now: Instant) -> [Action] {
    switch transactions.answered(id, request, answer) {
    case nil: return []
    case .compute(let node): return [.compute(id, node)]
    case .written(let revision, let value):
      return follow(listening.engine.acknowledge(request, revision: revision), now)
        + [.settled(id, .acknowledged(revision: revision, value: value))]
    case .overtaken: return follow(listening.engine.reject(request), now) + readBase(id, now)
    case .refused(let isWrite, let status, let reason):
      let undone = isWrite ? follow(listening.engine.reject(request), now) : []
      return undone + ended(id, .rejected(status: status, reason: reason), now)
    }
  }

  mutating func ended(_ id: Int64, _ settlement: Settlement, _ now: Instant) -> [Action] {
    guard transactions.path(of: id) != nil else { return [] }
    let undone = transactions.end(id).map { follow(listening.engine.reject($0), now) } ?? []
    return undone + [.settled(id, settlement)]
  }
}
