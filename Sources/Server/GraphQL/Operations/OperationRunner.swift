package import MartletGraphQLExecution
internal import MartletGraphQLLanguage
package import MartletJSON
internal import MartletRuntime
internal import MartletVocabulary

/// Runs operations for one loop. Built-in fields answer by callback and cost no task; an operation with user code gets
/// one task of its own, away from the loop. Confined to its loop.
package final class OperationRunner {
  let node: ServerNode
  let loop: any Loop

  init(_ node: ServerNode, on loop: any Loop) {
    self.node = node
    self.loop = loop
  }

  /// Runs with variables as the client sent them. `completion` runs on the loop, perhaps before this returns.
  package func run(
    _ plan: OperationPlan, variables: JSONObject, scope: RequestScope,
    _ completion: @escaping (ResponseTree) -> Void
  ) -> RunningOperation? {
    do {
      let coerced = try plan.coerce(variables: variables)
      return run(plan, coerced: coerced, root: .null, scope: scope) { [node] result in
        if !result.errors.isEmpty { node.audit.judged(result.errors, of: plan, by: scope.identity, node.models) }
        var result = result
        if scope.writeNumber != nil, let cursor = scope.written.withLock({ $0 }) {
          result.extensions["martlet"] = ["cursor": .string(cursor.description)]
        }
        completion(result)
      }
    } catch {
      completion(.requestError(error.errors))
      return nil
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
    let running = RunningOperation(execution, on: loop, completion)
    running.start(deadline: deadline)
    return running.isOver ? nil : running
  }

  private func runInTask(
    _ plan: OperationPlan, _ variables: JSONObject, _ context: RequestContext, _ root: ResolvedValue,
    _ deadline: Instant, _ completion: @escaping (ResponseTree) -> Void
  ) -> RunningOperation {
    let running = RunningOperation(on: loop, completion)
    let bound = LoopBound(running, on: loop)
    let place = node.place
    let task = node.spawner.spawn {
      let result = await plan.execute(coerced: variables, context: context, root: root, place: place)
      bound.loop.execute { bound.value.finish(result) }
    }
    running.begin(task, deadline: deadline)
    return running
  }
}

/// One operation under way. Confined to its loop.
package final class RunningOperation: FieldWorkOwner {
  private let execution: Execution?
  private let loop: any Loop
  private var completion: ((ResponseTree) -> Void)?
  private var task: SpawnedTask?
  private var timer: LoopTimer?
  private var isPumping = false
  private var hasNews = false

  var isOver: Bool { completion == nil }

  /// An operation that runs in a task.
  convenience init(on loop: any Loop, _ completion: @escaping (ResponseTree) -> Void) {
    self.init(nil, on: loop, completion)
  }

  init(_ execution: Execution?, on loop: any Loop, _ completion: @escaping (ResponseTree) -> Void) {
    self.execution = execution
    self.loop = loop
    self.completion = completion
  }

  fileprivate func start(deadline: Instant) {
    execution?.start()
    pump()
    if !isOver { armTimer(deadline) }
  }

  func begin(_ task: SpawnedTask, deadline: Instant) {
    self.task = task
    armTimer(deadline)
  }

  private func armTimer(_ deadline: Instant) {
    timer = loop.schedule(at: deadline) { [weak self] in self?.expire() }
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
    timer?.cancel()
    timer = nil
    completion(result)
  }

  private func expire() {
    task?.cancel()
    let error = ResponseError(
      "The operation took longer than it may.", extensions: ["code": "DEADLINE"])
    finish(ResponseTree(data: .null, errors: [error]))
  }

  /// The caller has gone. A write that is under way happens all the same.
  package func cancel() {
    completion = nil
    task?.cancel()
    timer?.cancel()
    timer = nil
  }
}
