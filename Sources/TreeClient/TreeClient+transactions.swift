package import MartletJSON
package import MartletJSONTree
import MartletTreeWire
package import MartletVocabulary

extension TreeClient {
  /// A read, a computation outside of the machine, and a write that the server makes only when the value is still the
  /// one that was read; again from the start when it is not.
  struct Transaction: Sendable {
    var path: TreePath
    /// The server's value that the function was given.
    var base = TreeNode.empty
    var runs = 0
    /// The write that is on its way, as the engine knows it.
    var write: Int64?
    var result: JSONValue = .null
  }

  /// How often a transaction's function runs before it is given up. 25 is the Realtime Database's number.
  package static let transactionRuns = 25

  /// Begins a transaction: the server's value is read first.
  package mutating func transact(at path: TreePath, now: Instant) -> (id: Int64, actions: [Action]) {
    let id = nextID()
    transactions[id] = Transaction(path: path)
    return (id, readBase(id, now))
  }

  private mutating func readBase(_ id: Int64, _ now: Instant) -> [Action] {
    guard let path = transactions[id]?.path else { return [] }
    let request = nextID()
    transactionRequests[request] = id
    return follow(sent: wire.request(request, .get(path, .all), now: now))
  }

  /// The function's result for the value of `compute`; nil aborts the transaction.
  ///
  /// - Throws: what the tree does not accept; the transaction has ended.
  package mutating func computed(
    _ id: Int64, _ json: JSONValue?, now: Instant, milliseconds: Int64
  ) throws(TreeError) -> [Action] {
    guard let transaction = transactions[id] else { return [] }
    guard let json else { return ended(id, .aborted, now) }
    let reader = TreeReader(limits: limits, serverValues: estimate(milliseconds))
    let node: TreeNode
    do { node = try reader.read(json, at: transaction.path, existing: transaction.base) } catch {
      transactions[id] = nil
      throw error
    }
    let request = nextID()
    transactionRequests[request] = id
    transactions[id]?.write = request
    transactions[id]?.result = node.exportedJSON()
    let actions = follow(engine.overwrite(transaction.path, with: node, id: request), now)
    let hash = TreeHash.hash(transaction.base)
    return actions + follow(sent: wire.request(request, .put(transaction.path, json, expectedHash: hash), now: now))
  }

  mutating func stepped(_ id: Int64, _ request: Int64, _ answer: TreeAnswer, _ now: Instant) -> [Action] {
    guard var transaction = transactions[id] else { return [] }
    if transaction.write == request {
      if answer.isOK {
        transactions[id] = nil
        let value = answer.value.isNull ? transaction.result : answer.value
        return follow(engine.acknowledge(request), now)
          + [.settled(id, .acknowledged(revision: answer.revision, value: value))]
      }
      transaction.write = nil
      transactions[id] = transaction
      let undone = follow(engine.reject(request), now)
      // Another write came in between.
      if answer.status == "datastale", transaction.runs < Self.transactionRuns { return undone + readBase(id, now) }
      return undone + ended(id, .rejected(status: answer.status, reason: answer.reason), now)
    }
    guard answer.isOK, let node = try? TreeReader(limits: .largest).read(answer.value, at: transaction.path) else {
      return ended(id, .rejected(status: answer.status, reason: answer.reason), now)
    }
    transaction.base = node
    transaction.runs += 1
    transactions[id] = transaction
    return [.compute(id, node)]
  }

  mutating func ended(_ id: Int64, _ settlement: Settlement, _ now: Instant) -> [Action] {
    guard let transaction = transactions.removeValue(forKey: id) else { return [] }
    let undone = transaction.write.map { follow(engine.reject($0), now) } ?? []
    return undone + [.settled(id, settlement)]
  }
}
