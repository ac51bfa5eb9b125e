internal import MartletGraphQLExecution
internal import MartletGraphQLLanguage
internal import MartletJSON
internal import MartletRuntime
internal import MartletVocabulary

/// Runs operations for one loop. Built-in fields answer by callback and cost no task; an operation with user code gets
/// one task of its own, away from the loop. Confined to its loop.
package final class OperationRunner {
  let node: ServerNode
  let loop: any Loop

  let deadlines: OperationDeadlines

  init(_ node: ServerNode, on loop: any Loop) {
    self.node = node
    self.loop = loop
    deadlines = OperationDeadlines(on: loop)
  }

  /// Runs with variables as the client sent them. `completion` runs on the loop, perhaps before this returns.
  func run(
    _ prepared: PreparedOperation, variables: JSONObject, _ completion: @escaping (ResponseTree) -> Void
  ) -> RunningOperation? {
    let coerced: JSONObject
    do {
      coerced = try prepared.plan.coerce(variables: variables)
    } catch {
      completion(prepared.marked(.requestError(error.errors)))
      return nil
    }
    return run(prepared.plan, coerced: coerced, root: .null, scope: prepared.scope) { [node] result in
      let scope = prepared.scope
      if !result.errors.isEmpty { node.audit.judged(result.errors, of: prepared.plan, by: scope.identity, node.models) }
      var result = result
      if let cursor = scope.written?.withLock({ $0 }) {
        result.extensions["martlet"] = ["cursor": .string(cursor.description)]
      }
      completion(prepared.marked(result).bounded(of: prepared.plan, node.limits))
    }
  }

  /// Runs with coerced variables.
  @discardableResult
  func run(
    _ plan: OperationPlan, coerced: JSONObject, root: ResolvedValue, scope: RequestScope,
    _ completion: @escaping (ResponseTree) -> Void
  ) -> RunningOperation? {
    let deadline = loop.now + node.limits.query.operationTimeout
    let context = scope.context(deadline: deadline)
    let variant = plan.variant(for: coerced)
    if variant.runsUserCode {
      return runInTask(plan, coerced, context, root, deadline, completion)
    }
    let execution = Execution(plan, variant: variant, variables: coerced, context: context, root: root)
    let running = RunningOperation(execution, on: loop, until: deadline, deadlines, completion)
    running.start()
    return running.isOver ? nil : running
  }

  private func runInTask(
    _ plan: OperationPlan, _ variables: JSONObject, _ context: RequestContext, _ root: ResolvedValue,
    _ deadline: Instant, _ completion: @escaping (ResponseTree) -> Void
  ) -> RunningOperation {
    let running = RunningOperation(nil, on: loop, until: deadline, deadlines, completion)
    let bound = LoopBound(running, on: loop)
    let place = node.place
    let task = node.spawner.spawn {
      let result = await plan.execute(coerced: variables, context: context, root: root, place: place)
      bound.loop.execute { bound.value.finish(result) }
    }
    running.begin(task)
    return running
  }
}

/// One operation under way. Confined to its loop.
package final class RunningOperation: FieldWorkOwner {
  private let execution: Execution?
  private let loop: any Loop
  /// When its time ends.
  let deadline: Instant
  private weak let deadlines: OperationDeadlines?
  /// Its number among the operations that `deadlines` watches; nil while it is not among them.
  var number: Int?
  private var completion: ((ResponseTree) -> Void)?
  private var task: SpawnedTask?
  private var isPumping = false
  private var hasNews = false

  var isOver: Bool { completion == nil }

  /// - Parameter execution: Nil for an operation that runs in a task.
  init(
    _ execution: Execution?, on loop: any Loop, until deadline: Instant, _ deadlines: OperationDeadlines,
    _ completion: @escaping (ResponseTree) -> Void
  ) {
    self.execution = execution
    self.loop = loop
    self.deadline = deadline
    self.deadlines = deadlines
    self.completion = completion
  }

  func start() {
    execution?.start()
    pump()
    if !isOver { deadlines?.add(self) }
  }

  func begin(_ task: SpawnedTask) {
    self.task = task
    deadlines?.add(self)
  }

  /// Makes all calls that can be made. Answers that come back at once are taken up in the same round.
  private func pump() {
    guard let execution, !isOver, !isPumping else {
      hasNews = true
      return
    }
    isPumping = true
    repeat {
      hasNews = false
      execution.takeWork().call(for: self, on: loop)
    } while hasNews
    isPumping = false
    if execution.isFinished { finish(execution.result) }
  }

  func answered(_ id: Int, _ results: ResolverResults) {
    guard !isOver else { return }
    execution?.complete(id, results)
    pump()
  }

  func finish(_ result: ResponseTree) {
    guard let completion else { return }
    self.completion = nil
    deadlines?.remove(self)
    completion(result)
  }

  /// Its time is over.
  func expire() {
    task?.cancel()
    let error = ResponseError(
      "The operation took longer than it may.", extensions: ["code": "DEADLINE"])
    finish(ResponseTree(data: .null, errors: [error]))
  }

  /// The caller has gone. A write that is under way happens all the same.
  package func cancel() {
    completion = nil
    task?.cancel()
    deadlines?.remove(self)
  }
}
