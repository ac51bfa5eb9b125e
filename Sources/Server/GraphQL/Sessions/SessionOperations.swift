internal import MartletChangeFeed
internal import MartletGraphQLExecution
internal import MartletGraphQLLanguage
internal import MartletGraphQLWire
internal import MartletJSON
internal import MartletModelSDL
internal import MartletModels
internal import MartletRuntime
internal import MartletStore
internal import MartletVocabulary

/// What runs under one operation number.
enum SessionOperation {
  case running(RunningOperation)
  case member(Member)
  case stream(SpawnedTask)
  /// The key of its own token is being looked for.
  case authorizing(PendingQuestion)
  /// Its document is being planned.
  case preparing(Preparation)
  /// The tree's rules are being asked whether it may begin.
  case judging
}

/// The operations of one session: starts what the client asks for, and ends it. Subscriptions to models are members of
/// the feed, which this follows for all of them.
///
/// Confined to its loop.
final class SessionOperations {
  let link: SessionLink
  /// Measures the events that are written to it.
  let meter: DeliveryMeter
  let caller: SessionCaller
  private let use: SessionUse
  private(set) var operations = NumberedTable<SessionOperation>() {
    didSet {
      use.retain(operations)
      service.transport.onProgress?()
    }
  }
  private(set) var ownCallers = OperationCallers()
  /// Whether `resume` is called in the next turn.
  var isResumeScheduled = false
  /// Source streams that wait for the connection to drain before they bring their next event.
  private var blockedStreams: [() -> Void] = []

  /// For completions: a fan-out uses the session for every event, and must not find weak references.
  let loose = LooseReference<SessionOperations>()

  var service: GraphQLService { link.service }

  init(_ link: SessionLink, _ meter: DeliveryMeter, _ caller: SessionCaller, _ use: SessionUse) {
    (self.link, self.meter, self.caller, self.use) = (link, meter, caller, use)
    loose.refer(to: self)
  }

  deinit { loose.clear() }

  /// Whether a query or mutation is under way, whose answer a shutdown waits for.
  var hasRunning: Bool {
    operations.entries.contains { if case .running = $0.value { true } else { false } }
  }

  // MARK: Starting

  func start(_ number: Int, _ id: OperationID, _ request: RequestPayload) {
    service.counters.add(.operations)
    if let refusal = use.judge(caller.current, on: link) { return refuse(number, refusal.errors) }
    switch caller.authorization(of: request) {
    case .refused(let reason): refuseOwn(number, reason)
    case .caller(let caller): start(number, id, request, for: caller)
    case .asks(let asked):
      let question = service.transport.admission.ask(asked) { [loose] outcome in
        guard let self = loose.object, case .authorizing = self.operations[number] else { return }
        self.operations[number] = nil
        switch outcome {
        case .admitted(let caller, _): self.start(number, id, request, for: caller)
        case .refused: self.refuseOwn(number, "program")
        case .unknown(let reason): self.refuseOwn(number, reason)
        }
      }
      if let question { operations[number] = .authorizing(question) }
    }
  }

  /// An operation's own credentials are not accepted.
  private func refuseOwn(_ number: Int, _ reason: String) {
    link.noteRefusal("A subscription was refused: its credentials are not known.", reason)
    refuse(number, [SubscriptionErrors.unknownCredentials])
  }

  private func start(_ number: Int, _ id: OperationID, _ request: RequestPayload, for caller: Caller) {
    keep(caller, for: number)
    let preparing = service.prepare(request, for: caller) { [loose] in loose.object?.start(number, id, request, $0) }
    if let preparing { operations[number] = .preparing(preparing) }
  }

  /// An operation runs for a caller of its own; it ends when that caller's rights do.
  private func keep(_ own: Caller, for number: Int) {
    guard link.machine.dialect?.authorizesEachOperation == true, own.grant != caller.current.grant else { return }
    // Those that have ended are forgotten before they could add up.
    if ownCallers.count >= service.node.limits.session.operationsPerConnection {
      ownCallers.retain { operations[$0] != nil }
    }
    let timer = own.deadline.map { deadline in
      service.loop.schedule(at: deadline) { [loose] in
        guard let self = loose.object, self.ownCallers.forget(number), self.operations[number] != nil else { return }
        self.endUnauthorized(number, "The credentials have expired.")
      }
    }
    ownCallers.keep(own, for: number, expiry: timer)
  }

  private func start(
    _ number: Int, _ id: OperationID, _ request: RequestPayload, _ outcome: Result<PreparedOperation, Refusal>
  ) {
    if case .preparing = operations[number] { operations[number] = nil }
    switch outcome {
    case .failure(let refusal):
      if let violation = refusal.violation { link.noteViolation(violation) }
      use.charge(refusal, caller.current, on: link)
      refuse(number, refusal.errors)
    case .success(let prepared):
      if let refusal = use.charge(prepared, caller.current, on: link) { return refuse(number, refusal.errors) }
      switch prepared.plan.kind {
      case .query, .mutation:
        if let refusal = SubscriptionErrors.kind(in: link.machine.dialect) { return refuse(number, [refusal]) }
        run(number, prepared, request)
      case .subscription:
        TreeJudge(service: service).judge(prepared, request, of: self, number) { [loose] errors in
          guard let self = loose.object else { return }
          if errors.isEmpty { self.subscribe(number, id, prepared, request) } else { self.refuse(number, errors) }
        }
      }
    }
  }

  private func run(_ number: Int, _ prepared: PreparedOperation, _ request: RequestPayload) {
    var isDone = false
    let operation = service.runner.run(prepared, request) { [loose] result in
      isDone = true
      guard let self = loose.object else { return }
      self.operations[number] = nil
      if result.data == nil {
        self.refuse(number, result.errors)
      } else {
        self.link.step {
          $0.next(number, payload: result.bytes, cursor: nil, endsTransaction: true, actions: &$1)
          $0.complete(number, actions: &$1)
        }
      }
    }
    if let operation, !isDone { operations[number] = .running(operation) }
  }

  private func subscribe(
    _ number: Int, _ id: OperationID, _ prepared: PreparedOperation, _ request: RequestPayload
  ) {
    do {
      let hold = try use.subscribe(ownCallers[number] ?? caller.current, service)
      guard let (group, key) = try service.group(of: prepared, request, link.machine.dialect) else {
        open(number, prepared, request)
        return use.keep(hold, for: number)
      }
      let continuity = try RequestContinuity(extensions: request.extensions)
      let member = Member(
        number: number, prefix: link.machine.eventPrefix(id),
        hasCursors: link.machine.continuity(of: number).cursors, subscriber: self, since: service.feed.applied)
      try service.feed.add(member, to: group, key: key)
      operations[number] = .member(member)
      use.keep(hold, for: number)
      MemberStart(member: member, link: link).begin(continuity)
    } catch {
      refuse(number, SubscriptionErrors.list(error, of: prepared, service.node))
    }
  }

  /// The tree's rules are asked whether an operation may begin; `judged` is false when it has ended meanwhile.
  func judges(_ number: Int) { operations[number] = .judging }
  func judged(_ number: Int) -> Bool { operations.remove(number) != nil }

  /// A member takes the place of another.
  func replace(_ member: Member) { operations[member.number] = .member(member) }

  // MARK: Ending

  /// The operation is not executed; nothing else on the connection is affected.
  private func refuse(_ number: Int, _ errors: [ResponseError]) {
    service.counters.add(.operationsRefused)
    link.fail(number, errors)
  }

  /// The client no longer wants an operation, or its connection is gone.
  func stop(_ number: Int) {
    switch operations.remove(number) {
    case .running(let operation): operation.cancel()
    case .member(let member): service.feed.remove(member)
    case .stream(let task): task.cancel()
    case .authorizing, .preparing, .judging, nil: break
    }
    ownCallers.forget(number)
  }

  func end(_ number: Int, _ reason: String, _ code: String) {
    stop(number)
    link.fail(number, [ResponseError(reason, extensions: ["code": .string(code)])])
  }

  private func endUnauthorized(_ number: Int, _ reason: String) { end(number, reason, "UNAUTHENTICATED") }

  /// Whether operations run for callers of their own.
  var haveOwnCallers: Bool { operations.entries.contains { ownCallers[$0.number] != nil } }

  /// The rights of the session's caller have ended, and with them what runs by those.
  func endThoseOfSession(_ reason: String) {
    for number in operations.numbers where ownCallers[number] == nil { endUnauthorized(number, reason) }
  }

  /// Ends what withdrawn credentials of callers of their own admitted; returns how many operations that were.
  func recheckAccess() -> Int {
    let access = service.node.access
    var count = 0
    for number in ownCallers.withdrawn({ access.isGood($0) }) {
      ownCallers.forget(number)
      guard operations[number] != nil else { continue }
      endUnauthorized(number, "The credentials were withdrawn.")
      count += 1
    }
    return count
  }

  // MARK: Source streams

  /// Opens a source stream of the program's own in a task; its next event is asked for when there is room for it.
  private func open(_ number: Int, _ prepared: PreparedOperation, _ request: RequestPayload) {
    let plan = prepared.plan
    let bound = LoopBound(self, on: service.loop)
    let context = prepared.scope.context()
    let place = service.node.place
    let given = request.variables
    let task = service.node.spawner.spawn {
      do throws(SubscriptionError) {
        let responses = try await plan.subscribe(variables: given, context: context, place: place)
        bound.loop.execute { bound.value.sourceOpened(number) }
        for await response in responses {
          let bytes = response.bytes
          await withCheckedContinuation { continuation in
            bound.loop.execute { bound.value.deliver(number, bytes) { continuation.resume() } }
          }
        }
        bound.loop.execute { bound.value.finishStream(number) }
      } catch {
        let errors = error.response.tree.errors
        bound.loop.execute { bound.value.failStream(number, errors) }
      }
    }
    operations[number] = .stream(task)
  }

  private func sourceOpened(_ number: Int) {
    if operations[number] != nil { link.step { $0.live(number, actions: &$1) } }
  }

  private func deliver(_ number: Int, _ payload: [UInt8], _ resume: @escaping () -> Void) {
    guard operations[number] != nil else { return resume() }
    link.step { $0.next(number, payload: payload, cursor: nil, endsTransaction: true, actions: &$1) }
    service.counters.add(.deliveries)
    if hasRoom { return resume() }
    blockedStreams.append(resume)
    continueNextTurn()
  }

  private func finishStream(_ number: Int) {
    if operations.remove(number) != nil { link.step { $0.complete(number, actions: &$1) } }
  }

  private func failStream(_ number: Int, _ errors: [ResponseError]) {
    if operations.remove(number) != nil { refuse(number, errors) }
  }

  /// Asks for the next events of source streams that have waited for room, or for the end.
  func resumeStreams() {
    let blocked = blockedStreams
    blockedStreams = []
    for resume in blocked { resume() }
  }
}
