internal import MartletChangeFeed
internal import MartletJSON
internal import MartletJSONTree
internal import MartletRuntime
internal import MartletStore
internal import MartletTreeRules
internal import MartletTreeWire

/// A write of the tree as a client asked for it.
struct TreeWriteRequest: Sendable {
  enum Content: Sendable, Equatable {
    case put(JSONValue)
    /// By paths below the write's.
    case merge(JSONObject)
  }

  var path: TreePath
  var content: Content
  /// The hash that the present value must have.
  var expectedHash: String?
  /// The client's number for the write, under which a resend is applied once.
  var number: Number?
  /// Leaves that it may write and delete; nil without such a limit.
  var mostLeaves: Int?
  /// Whether its answer is the value, with what server values became. Of other writes it is known what an increment
  /// made.
  var answersValue = false
  /// Whether its answer has the node that was put.
  var answersNode = false

  struct Number: Sendable {
    /// The client's random name.
    var client: String
    var mark: TreeAdditions.Number
  }
}

/// A write that was made.
struct TreeWritten: Sendable {
  var receipt: Receipt
  /// What a write with server values became, in the form of its content, where that is asked for; nil for one that was
  /// sent again.
  var resolved: JSONValue?
  /// The node that was put, where that is asked for.
  var node: TreeNode?
}

/// Carries out writes inside the store's transaction: server values are resolved, the condition and the rules are
/// judged on the tree as it is then, and the resolved values are put.
struct TreeWriting: Sendable {
  let policy: TreePolicy
  let limits: TreeLimits
  /// By which what was left behind is judged again.
  let access: AccessControl
  let log: Log
  /// Whether records stand below `/models`, which writes of the tree do not change.
  var hasRecords: @Sendable () -> Bool = { false }

  /// Queues a write. `completion` runs on the loop of `destination`, after the write is durable.
  func commit(
    _ request: TreeWriteRequest, as caller: TreeCaller, to destination: FeedDestination,
    _ completion: @escaping @Sendable (Result<TreeWritten, TreeRefusal>) -> Void
  ) {
    let refusal = Lock<TreeRefusal?>(nil)
    let resolved = Lock<(json: JSONValue?, node: TreeNode?)>((nil, nil))
    let operation = WriteOperation.work { [self] transaction in
      do {
        let writes = try run(request, caller, transaction)
        let node = request.answersNode ? writes.first?.node : nil
        let value = Self.resolved(request, writes)
        resolved.withLock { $0 = (value, node) }
      } catch {
        if let error = error as? TreeRefusal { refusal.withLock { $0 = error } }
        throw error
      }
    }
    var write = WriteRequest(operation)
    if let number = request.number {
      write.writeNumber = WriteNumber(client: number.client, number: number.mark.number, identity: caller.writer)
      write.acknowledged = number.mark.acknowledged
      write.isResend = number.mark.isResend
    }
    destination.commit(
      StoreSubmission(write) { result in
        let (json, node) = resolved.withLock { $0 }
        completion(
          result.map { TreeWritten(receipt: $0, resolved: json, node: node) }
            .mapError { error in refusal.withLock { $0 } ?? TreeRefusal(kept: error.message) ?? .store(error) })
      })
  }

  /// - Returns: the writes as they were made.
  func run(_ request: TreeWriteRequest, _ caller: TreeCaller, _ transaction: WriteTransaction) throws -> [TreeWrite] {
    if let expected = request.expectedHash {
      let node = try transaction.tree.node(at: request.path)
      guard TreeHash.hash(node) == expected || node.isEmpty && expected == TreeHash.entityTag(node) else {
        throw TreeRefusal.stale(node)
      }
    }
    let writes = try judge(request, caller, transaction)
    // Values, deletions, priorities: the order in which rules saw them.
    let ranked = (0..<3).flatMap { rank in writes.filter { Self.rank($0) == rank } }
    try transaction.put(ranked.map { TreeChange(path: $0.path, node: $0.node) })
    return writes
  }

  /// The writes that a request would make now, if the rules allow them.
  func judge(_ request: TreeWriteRequest, _ caller: TreeCaller, _ transaction: WriteTransaction) throws -> [TreeWrite] {
    let writes = try resolve(request, transaction)
    if let path = writes.lazy.compactMap(RecordTree.path(in:)).first, hasRecords() {
      throw TreeRefusal.invalid(TreeError(.readOnly, at: path))
    }
    if let most = request.mostLeaves { try checkSize(writes, at: request.path, most, transaction) }
    if caller.isAdministrator { return writes }
    let data = StoredTree(tree: transaction.tree)
    let context = RuleContext(
      auth: caller.auth, now: transaction.milliseconds, data: data, newData: WrittenTree(data, writes: writes))
    if case .denied(let denial) = try policy.rules.write(writes, context) { throw TreeRefusal.denied(denial) }
    return writes
  }

  /// Refuses a write that would take longer than its request allows. What it overwrites is counted without being read.
  private func checkSize(
    _ writes: [TreeWrite], at path: TreePath, _ most: Int, _ transaction: WriteTransaction
  ) throws {
    var left = most
    for write in writes where write.path.key?.isPriority != true {
      left -= write.node.rowCount
      if left >= 0 { left -= try transaction.tree.count(at: write.path, most: left + 1) }
      if left < 0 { throw TreeRefusal.invalid(TreeError(.tooManyLeaves, at: path, limit: most)) }
    }
  }

  private static func rank(_ write: TreeWrite) -> Int {
    write.path.key?.isPriority == true ? 2 : write.node.isEmpty ? 1 : 0
  }

  private func resolve(_ request: TreeWriteRequest, _ transaction: WriteTransaction) throws -> [TreeWrite] {
    let reader = TreeReader(limits: limits, serverValues: ServerValues(milliseconds: transaction.milliseconds))
    do throws(TreeError) {
      switch request.content {
      case .put(let json):
        if request.path.key?.isPriority == true, let parent = request.path.parent {
          let writes = try reader.readMerge([".priority": json], at: parent)
          return writes.map { TreeWrite(path: parent.appending($0.path), node: $0.node) }
        }
        let existing = try existing(json, at: request.path, transaction)
        return [TreeWrite(path: request.path, node: try reader.read(json, at: request.path, existing: existing))]
      case .merge(let object):
        let existing = try existing(.object(object), at: request.path, transaction)
        return try reader.readMerge(object, at: request.path, existing: existing)
          .map { TreeWrite(path: request.path.appending($0.path), node: $0.node) }
      }
    } catch {
      throw TreeRefusal.invalid(error)
    }
  }

  /// The present value, when the write has increments: nothing else of a write depends on it.
  private func existing(
    _ json: JSONValue, at path: TreePath, _ transaction: WriteTransaction
  ) throws(TreeError) -> TreeNode {
    var node = TreeNode.empty
    for increment in Self.increments(in: json, at: .root) {
      let scalar = try? transaction.tree.node(at: path.appending(increment), in: .all, limit: 1)
      if let scalar { node = node.setting(increment, to: scalar) }
    }
    return node
  }

  /// What the server values of a request became; nil without such values.
  private static func resolved(_ request: TreeWriteRequest, _ writes: [TreeWrite]) -> JSONValue? {
    switch request.content {
    case .put(let json) where request.answersValue:
      return hasServerValues(json) ? writes.first?.node.json(asArrays: true) : nil
    case .put(let json): return increments(in: json, at: .root).isEmpty ? nil : writes.first?.node.exportedJSON()
    case .merge(let object):
      guard request.answersValue, object.contains(where: { hasServerValues($0.value) }) else { return nil }
      let parts = writes.map { write in
        let path = write.path.relative(to: request.path) ?? write.path
        return (path.keys.map(\.text).joined(separator: "/"), write.node.json(asArrays: true))
      }
      return .object(JSONObject(distinct: parts))
    }
  }

  private static func hasServerValues(_ json: JSONValue) -> Bool {
    switch json {
    case .object(let object): object[".sv"] != nil || object.contains { hasServerValues($0.value) }
    case .array(let elements): elements.contains(where: hasServerValues)
    case .null, .bool, .int, .uint, .double, .string: false
    }
  }

  /// The paths at which `{".sv": {"increment": …}}` stands.
  private static func increments(in json: JSONValue, at path: TreePath) -> [TreePath] {
    guard let object = json.object else { return [] }
    if object[".sv"]?.object != nil { return [path] }
    var found: [TreePath] = []
    for (name, value) in object where value.object != nil {
      guard let below = try? TreePath(wire: name) else { continue }
      found += increments(in: value, at: path.appending(below))
    }
    return found
  }
}
