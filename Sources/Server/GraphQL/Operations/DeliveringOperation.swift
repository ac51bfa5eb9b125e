package import MartletGraphQLExecution
internal import MartletGraphQLLanguage
internal import MartletGraphQLWire
internal import MartletJSON
package import MartletRuntime
package import MartletVocabulary

/// One operation whose response is delivered in parts, under way. Confined to its loop.
///
/// As long as the reader lags, no payload is made and no further work begun; in a task, the next payload waits.
package final class DeliveringOperation: FieldWorkOwner {
  private let execution: Execution?
  private let format: IncrementalFormat
  private let loop: any Loop
  private let deliveryTimeout: Duration
  /// Sends a payload, with its bytes where they have been made; false when the reader lags.
  private var deliver: ((IncrementalPayload, [UInt8]?) -> Bool)?
  private var task: SpawnedTask?
  private var timer: LoopTimer?
  private var hasBegun = false
  private var isReaderReady = true
  private var isPumping = false
  private var hasNews = false
  /// What has been announced and not completed, for the day that the time is over.
  private var open: [Int: PendingPart] = [:]
  /// Resumes the task that waits for the reader.
  private var waiting: (@Sendable () -> Void)?

  package var isOver: Bool { deliver == nil }

  package init(
    _ execution: Execution?, _ format: IncrementalFormat, on loop: any Loop, deliveryTimeout: Duration,
    deliver: @escaping (IncrementalPayload, [UInt8]?) -> Bool
  ) {
    self.execution = execution
    self.format = format
    self.loop = loop
    self.deliveryTimeout = deliveryTimeout
    self.deliver = deliver
  }

  package func start(deadline: Instant) {
    execution?.start()
    pump()
    if !isOver, !hasBegun { arm(deadline) }
  }

  func begin(_ task: SpawnedTask, deadline: Instant) {
    self.task = task
    arm(deadline)
  }

  private func arm(_ deadline: Instant) {
    timer?.cancel()
    timer = loop.schedule(at: deadline) { [weak self] in self?.expire() }
  }

  // MARK: On the loop

  /// Makes all calls that can be made and sends all payloads that are ready, while the reader keeps up.
  private func pump() {
    guard let execution, !isOver, !isPumping else {
      hasNews = true
      return
    }
    isPumping = true
    repeat {
      hasNews = false
      if hasBegun, !isReaderReady { break }
      execution.takeWork().call(for: self, on: loop)
      if !hasBegun {
        guard execution.isFinished else { continue }
        send(execution.takeInitial())
        hasNews = true
      } else if let update = execution.takeUpdate() {
        send(.update(update))
        hasNews = true
      }
    } while hasNews && !isOver
    isPumping = false
  }

  func answered(_ id: Int, _ results: ResolverResults) {
    guard !isOver else { return }
    execution?.complete(id, results)
    pump()
  }

  // MARK: From a task

  /// Sends a payload with its bytes; `done` is called when the next one may come.
  func take(_ payload: IncrementalPayload, _ bytes: [UInt8], done: @escaping @Sendable () -> Void) {
    send(payload, bytes)
    guard !isOver, !isReaderReady else { return done() }
    waiting = done
  }

  /// The task has nothing more to say. One that was cancelled has not said its last payload.
  func taskEnded() {
    if !isOver { expire() }
  }

  // MARK: Payloads

  private func send(_ payload: IncrementalPayload, _ bytes: [UInt8]? = nil) {
    guard let deliver else { return }
    switch payload {
    case .whole: break
    case .initial(_, let update), .update(let update):
      for part in update.pending { open[part.id] = part }
      for part in update.completed { open[part.id] = nil }
      if case .update = payload, update.isSilent(in: format) { return }
    }
    if !hasBegun, payload.hasNext { arm(loop.now + deliveryTimeout) }
    hasBegun = true
    if !payload.hasNext { end() }
    isReaderReady = deliver(payload, bytes)
  }

  private func end() {
    deliver = nil
    timer?.cancel()
    timer = nil
    let waiting = waiting
    self.waiting = nil
    waiting?()
  }

  private func expire() {
    let error = ResponseError("The operation took longer than it may.", extensions: ["code": "DEADLINE"])
    let task = task
    if hasBegun {
      let completed = open.sorted { $0.key < $1.key }.map { id, part in
        CompletedPart(id: id, path: part.path, label: part.label, isList: part.isList, errors: [error])
      }
      send(.update(IncrementalUpdate(completed: completed, hasNext: false)))
    } else {
      send(.whole(ResponseTree(data: .null, errors: [error])))
    }
    task?.cancel()
  }

  package func readerCaughtUp() {
    isReaderReady = true
    let waiting = waiting
    self.waiting = nil
    waiting?()
    pump()
  }

  /// The caller has gone. A write that is under way happens all the same.
  package func cancel() {
    task?.cancel()
    end()
  }
}

extension OperationRunner {
  /// Runs an operation whose response is delivered in parts, with variables as the client sent them. `deliver` runs on
  /// the loop, perhaps before this returns, once for each payload; it returns false while the reader lags. A large
  /// operation is executed and its payloads are encoded on the concurrent pool.
  func run(
    _ prepared: PreparedOperation, _ request: RequestPayload, format: IncrementalFormat,
    deliver: @escaping (IncrementalPayload, [UInt8]?) -> Bool
  ) -> DeliveringOperation? {
    let plan = prepared.plan
    let deadline = loop.now + node.limits.query.operationTimeout
    let deliver: (IncrementalPayload, [UInt8]?) -> Bool = { payload, bytes in
      deliver(bytes == nil ? prepared.marked(payload) : payload, bytes)
    }
    if request.isLarge(node.limits.query) {
      let context = prepared.scope.away(node.spawner).context(deadline: deadline + node.limits.query.deliveryTimeout)
      return runInTask(prepared, format, deadline, deliver) { [place = node.place] send in
        await plan.execute(
          incrementally: request.variables, context: context, format: format, place: place, deliver: send)
      }
    }
    let coerced: JSONObject
    do {
      coerced = try plan.coerce(variables: request.variables)
    } catch {
      _ = deliver(.whole(.requestError(error.errors)), nil)
      return nil
    }
    let scope = prepared.scope
    let variant = plan.variant(for: coerced, format: format) ?? plan.variant(for: coerced)
    // Resolvers of later parts may work past the deadline of the first.
    let context = scope.context(deadline: deadline + node.limits.query.deliveryTimeout)
    guard variant.runsUserCode else {
      let execution = Execution(plan, variant: variant, variables: coerced, context: context)
      let running = DeliveringOperation(
        execution, format, on: loop, deliveryTimeout: node.limits.query.deliveryTimeout, deliver: deliver)
      running.start(deadline: deadline)
      return running.isOver ? nil : running
    }
    return runInTask(prepared, format, deadline, deliver) { [place = node.place] send in
      await plan.execute(variant, coerced: coerced, context: context, format: format, place: place, deliver: send)
    }
  }

  /// Executes and encodes in a task, away from the loop.
  private func runInTask(
    _ prepared: PreparedOperation, _ format: IncrementalFormat, _ deadline: Instant,
    _ deliver: @escaping (IncrementalPayload, [UInt8]?) -> Bool,
    _ execute: @escaping @Sendable (@escaping @Sendable (IncrementalPayload) async -> Void) async -> Void
  ) -> DeliveringOperation {
    let running = DeliveringOperation(
      nil, format, on: loop, deliveryTimeout: node.limits.query.deliveryTimeout, deliver: deliver)
    let bound = LoopBound(running, on: loop)
    let task = node.spawner.spawn {
      await execute { payload in
        let marked = prepared.marked(payload)
        let made: IncrementalPayload = if case .whole(let tree) = marked { .whole(tree.encoded) } else { marked }
        let bytes = made.bytes(format)
        await withCheckedContinuation { (next: CheckedContinuation<Void, Never>) in
          bound.loop.execute { bound.value.take(made, bytes) { next.resume() } }
        }
      }
      bound.loop.execute { bound.value.taskEnded() }
    }
    running.begin(task, deadline: deadline)
    return running
  }
}
