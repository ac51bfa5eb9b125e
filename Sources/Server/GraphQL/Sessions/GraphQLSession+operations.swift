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
}

extension GraphQLSession {
  func start(_ number: Int, _ id: OperationID, _ request: RequestPayload) {
    service.counters.add(.operations)
    switch authorization(of: request) {
    case .refused(let reason): refuseOwn(number, reason)
    case .caller(let caller): start(number, id, request, for: caller)
    case .asks(let asked):
      let question = service.transport.admission.ask(asked) { [weak self] outcome in
        guard let self, case .authorizing = self.operations[number] else { return }
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
    noteRefusal("A subscription was refused: its credentials are not known.", reason)
    refuse(number, [SubscriptionErrors.unknownCredentials])
  }

  private func start(_ number: Int, _ id: OperationID, _ request: RequestPayload, for caller: Caller) {
    keep(caller, for: number)
    let preparing = service.prepare(request, for: caller) { [weak self] in self?.start(number, id, request, $0) }
    if let preparing { operations[number] = .preparing(preparing) }
  }

  private func start(
    _ number: Int, _ id: OperationID, _ request: RequestPayload, _ outcome: Result<PreparedOperation, Refusal>
  ) {
    if case .preparing = operations[number] { operations[number] = nil }
    switch outcome {
    case .failure(let refusal):
      if let violation = refusal.violation { noteViolation(violation) }
      refuse(number, refusal.errors)
    case .success(let prepared):
      // What is posted to a shared stream was charged with its request.
      if stream?.token == nil,
        let refusal = service.charge(prepared, bytes: use.messageBytes, caller, over: use.peer)
      {
        return refuse(number, refusal.errors)
      }
      switch prepared.plan.kind {
      case .query, .mutation:
        if let refusal = SubscriptionErrors.kind(in: machine.dialect) { return refuse(number, [refusal]) }
        run(number, prepared, request)
      case .subscription: subscribe(number, id, prepared, request)
      }
    }
  }

  /// The operation is not executed; nothing else on the socket is affected.
  private func refuse(_ number: Int, _ errors: [ResponseError]) {
    service.counters.add(.operationsRefused)
    step { $0.fail(number, errors: Self.list(errors), actions: &$1) }
  }

  /// The client lost interest, or the socket is gone.
  func stop(_ number: Int) {
    switch operations.removeValue(forKey: number) {
    case .running(let operation): operation.cancel()
    case .member(let member): service.feed.remove(member)
    case .stream(let task): task.cancel()
    case .authorizing, .preparing, nil: break
    }
    ownCallers[number] = nil
  }

  // MARK: Queries and mutations

  private func run(_ number: Int, _ prepared: PreparedOperation, _ request: RequestPayload) {
    var isDone = false
    let operation = service.runner.run(prepared, request) { [weak self] result in
      isDone = true
      guard let self else { return }
      self.operations[number] = nil
      if result.data == nil {
        self.refuse(number, result.errors)
      } else {
        self.step {
          $0.next(number, payload: result.bytes, cursor: nil, endsTransaction: true, actions: &$1)
          $0.complete(number, actions: &$1)
        }
      }
    }
    if let operation, !isDone { operations[number] = .running(operation) }
  }

  // MARK: Subscriptions

  private func subscribe(
    _ number: Int, _ id: OperationID, _ prepared: PreparedOperation, _ request: RequestPayload
  ) {
    do {
      let hold = try use.subscribe(ownCallers[number]?.caller ?? caller, service)
      guard let (group, key) = try service.group(of: prepared, request, machine.dialect) else {
        open(number, prepared, request)
        return use.keep(hold, for: number)
      }
      let continuity = try RequestContinuity(extensions: request.extensions)
      let member = Member(
        number: number, prefix: machine.eventPrefix(id), hasCursors: machine.continuity(of: number).cursors,
        subscriber: self, since: service.feed.applied)
      try service.feed.add(member, to: group, key: key)
      operations[number] = .member(member)
      use.keep(hold, for: number)
      begin(member, continuity)
    } catch {
      refuse(number, SubscriptionErrors.list(error, of: prepared, service.node))
    }
  }

  /// Whether the events after a resume's cursor can all be sent is decided before anything is sent.
  private func begin(_ member: Member, _ continuity: RequestContinuity) {
    let asked = member.hasCursors ? continuity : RequestContinuity()
    if let resume = asked.resume {
      let present = (member.group as? GraphQLGroup)?.view
      guard present.map({ Array($0.utf8) }) == asked.view.map({ Array($0.utf8) }) else {
        return service.feed.declareGap(member, .viewChanged, from: resume, owesReady: true)
      }
      return resumeMember(member, after: resume)
    }
    if asked.fromOldest { return catchUp(member, after: service.feed.beforeOldest) }
    // A reserved stream's client asked a moment ago, with the rights that it has now.
    guard let cursor = stream?.startsBehind else { return service.feed.begin(member) }
    resumeMember(member, after: cursor)
  }

  private func resumeMember(_ member: Member, after resume: Cursor) {
    switch service.feed.judge(resume) {
    case .gap(let reason): service.feed.declareGap(member, reason, from: resume, owesReady: true)
    case .valid: catchUp(member, after: resume.offset)
    }
  }

  private func catchUp(_ member: Member, after offset: Int64) {
    step { $0.catchesUp(member.number, actions: &$1) }
    service.feed.catchUp(member, after: offset)
  }

  /// Opens a source stream of the program's own, in a task of its own. Its next event is asked for when the socket has
  /// room for it.
  private func open(
    _ number: Int, _ prepared: PreparedOperation, _ request: RequestPayload
  ) {
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
    guard operations[number] != nil else { return }
    step { $0.live(number, actions: &$1) }
  }

  private func deliver(_ number: Int, _ payload: [UInt8], _ resume: @escaping () -> Void) {
    guard operations[number] != nil else { return resume() }
    step { $0.next(number, payload: payload, cursor: nil, endsTransaction: true, actions: &$1) }
    service.counters.add(.deliveries)
    if hasRoom { return resume() }
    blockedStreams.append(resume)
    continueNextTurn()
  }

  private func finishStream(_ number: Int) {
    guard operations.removeValue(forKey: number) != nil else { return }
    step { $0.complete(number, actions: &$1) }
  }

  private func failStream(_ number: Int, _ errors: [ResponseError]) {
    guard operations.removeValue(forKey: number) != nil else { return }
    refuse(number, errors)
  }
}
