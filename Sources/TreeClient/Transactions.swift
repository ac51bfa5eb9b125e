import MartletJSON
import MartletJSONTree
import MartletTreeWire

/// The transactions under way. Each is a read, a computation outside of the machine, and a write that the server makes
/// only when the value is still the one that was read; again from the start when it is not.
struct Transactions: Sendable {
  private struct Transaction {
    var path: TreePath
    /// The server's value that the function was given.
    var base = TreeNode.empty
    var runs = 0
    /// The request of the write that is on its way.
    var write: Int64?
    var result: JSONValue = .null
  }

  /// What follows from the server's answer to a request.
  enum Step {
    /// The value was read: compute the next one.
    case compute(TreeNode)
    /// The write was made.
    case written(revision: String?, value: JSONValue)
    /// Another write came in between: undo this one and read again.
    case overtaken
    /// The server refused the read or the write. `isWrite` says that a write has to be undone.
    case refused(isWrite: Bool, status: String, reason: String)
  }

  private var running: [Int64: Transaction] = [:]
  /// The transaction of each request, by the requests' ids.
  private var requests: [Int64: Int64] = [:]

  /// Begins a transaction.
  mutating func begin(_ id: Int64, at path: TreePath) { running[id] = Transaction(path: path) }

  /// Where a transaction writes; nil when it has ended.
  func path(of id: Int64) -> TreePath? { running[id]?.path }

  /// The value that a transaction's function was given last.
  func base(of id: Int64) -> TreeNode { running[id]?.base ?? .empty }

  /// Notes the request that reads a transaction's value.
  mutating func read(_ id: Int64, by request: Int64) { requests[request] = id }

  /// Notes the request that writes what a transaction's function returned.
  mutating func write(_ result: JSONValue, of id: Int64, by request: Int64) {
    requests[request] = id
    running[id]?.write = request
    running[id]?.result = result
  }

  /// The transaction of a request that has ended, which is forgotten; nil when the request is another one.
  mutating func take(request: Int64) -> Int64? { requests.removeValue(forKey: request) }

  /// Takes the answer to a transaction's request; nil when the transaction has ended. One that is written is removed.
  mutating func answered(_ id: Int64, _ request: Int64, _ answer: TreeAnswer) -> Step? {
    guard let transaction = running[id] else { return nil }
    if transaction.write == request {
      if answer.isOK {
        running[id] = nil
        return .written(
          revision: answer.revision, value: answer.value.isNull ? transaction.result : answer.value)
      }
      running[id]?.write = nil
      let mayRunAgain = answer.status == "datastale" && transaction.runs < TreeClient.transactionRuns
      return mayRunAgain ? .overtaken : .refused(isWrite: true, status: answer.status, reason: answer.reason)
    }
    guard answer.isOK, let node = try? TreeReader(limits: .largest).read(answer.value, at: transaction.path) else {
      return .refused(isWrite: false, status: answer.status, reason: answer.reason)
    }
    running[id]?.base = node
    running[id]?.runs += 1
    return .compute(node)
  }

  /// Removes a transaction, and returns the request of its write when that is on its way.
  mutating func end(_ id: Int64) -> Int64? { running.removeValue(forKey: id)?.write }
}
