internal import MartletGraphQLExecution
internal import MartletGraphQLWire
internal import MartletJSON
internal import MartletRuntime
internal import MartletStore

// Requests of a size that would hold up the other connections of a loop are read, planned, executed and encoded on the
// concurrent pool; the loop hands them over and sends what comes back.

extension RequestPayload {
  /// Whether the operation is not executed on a loop: its document or its variables are over the limits for one.
  func isLarge(_ limits: ServerLimits.Query) -> Bool {
    if hasLargeDocument(limits) { return true }
    var left = limits.valuesOnLoop
    return !variables.allSatisfy { $0.value.count(downFrom: &left) }
  }

  /// Whether the document is not parsed on a loop.
  func hasLargeDocument(_ limits: ServerLimits.Query) -> Bool { query.utf8.count > limits.bytesOnLoop }
}

extension JSONValue {
  /// Bytes of text that count as one value.
  private static let bytesOfOne = 64

  /// Counts the values in this one; false as soon as they are more than `left`.
  fileprivate func count(downFrom left: inout Int) -> Bool {
    left -= 1
    switch self {
    case .null, .bool, .int, .uint, .double: break
    case .string(let text): left -= text.utf8.count / Self.bytesOfOne
    case .array(let items): return left >= 0 && items.allSatisfy { $0.count(downFrom: &left) }
    case .object(let object): return left >= 0 && object.allSatisfy { $0.value.count(downFrom: &left) }
    }
    return left >= 0
  }
}

extension RequestScope {
  /// The same scope for an operation that runs on no loop: what the store answers is taken up where the operation runs.
  func away(_ spawner: any Spawner) -> RequestScope {
    guard let feed = destination as? FeedDestination else { return self }
    return RequestScope(
      destination: AwayDestination(feed, spawner), identity: identity, rights: rights, writeNumber: writeNumber,
      acknowledged: acknowledged, isResend: isResend, allowsIntrospection: allowsIntrospection, server: server,
      trace: trace)
  }
}

extension OperationRunner {
  /// Runs an operation with variables as the client sent them. A large one is executed and encoded on the concurrent
  /// pool; its result has its bytes. `completion` runs on the loop, perhaps before this returns.
  func run(
    _ prepared: PreparedOperation, _ request: RequestPayload, _ completion: @escaping (ResponseTree) -> Void
  ) -> RunningOperation? {
    var completion = completion
    if let trace = prepared.scope.trace { completion = trace.ending(prepared.plan, completion) }
    guard request.isLarge(node.limits.query) else {
      return run(prepared, variables: request.variables, completion)
    }
    let deadline = loop.now + node.limits.query.operationTimeout
    let context = prepared.scope.away(node.spawner).context(deadline: deadline)
    let running = RunningOperation(nil, on: loop, until: deadline, deadlines, completion)
    let bound = LoopBound(running, on: loop)
    let (place, limits) = (node.place, node.limits)
    let task = node.spawner.spawn {
      let result = await prepared.plan.execute(variables: request.variables, context: context, place: place)
      let encoded = prepared.marked(result).bounded(of: prepared.plan, limits)
      bound.loop.execute { bound.value.finish(encoded) }
    }
    running.begin(task)
    return running
  }
}

extension GraphQLService {
  /// Whether a body of so many bytes is read on the concurrent pool.
  func isLarge(_ bytes: Int) -> Bool { bytes > node.limits.query.bytesOnLoop }

  /// Does what takes no state of the loop: on the loop, or on the concurrent pool when it is about many bytes.
  /// `completion` runs on the loop, perhaps before this returns.
  func away<Value: Sendable>(
    ifLarge bytes: Int, _ body: @escaping @Sendable () -> Value, _ completion: @escaping (Value) -> Void
  ) {
    guard isLarge(bytes) else { return completion(body()) }
    away(body, completion)
  }

  /// Does what takes no state of the loop on the concurrent pool. `completion` runs on the loop.
  func away<Value: Sendable>(
    _ body: @escaping @Sendable () -> Value, _ completion: @escaping (Value) -> Void
  ) {
    let bound = LoopBound(completion, on: loop)
    node.spawner.spawn {
      let value = body()
      bound.loop.execute { bound.value(value) }
    }
  }

  /// The same as `prepare`, with a large document parsed, validated and planned on the concurrent pool.
  ///
  /// - Returns: what has to be kept until `completion` is called; nil when it has been called.
  func prepare(
    _ request: RequestPayload, for caller: Caller, _ completion: @escaping (Result<PreparedOperation, Refusal>) -> Void
  ) -> Preparation? {
    guard request.hasLargeDocument(node.limits.query) else {
      completion(prepare(request, for: caller))
      return nil
    }
    let preparation = Preparation()
    let served = node.served
    let suggests = caller.allowsIntrospection
    let countsCost = node.callers.countsCost || node.showsCost
    let allowedCost = node.allowedCost
    away {
      Result { () throws(RequestErrors) in
        try PlannedDocument(
          request.query, operationName: request.operationName, under: served, suggests: suggests,
          countsCost: countsCost, allowedCost: allowedCost)
      }
    } _: { [self, weak preparation] planned in
      guard preparation != nil else { return }
      // Another schema may have come into force.
      let isCurrent = node.served === served
      completion(prepare(request, for: caller, planned: isCurrent ? planned : nil))
    }
    return preparation
  }
}

/// The planning of a document on the concurrent pool. Letting go of it calls it off.
final class Preparation {}
