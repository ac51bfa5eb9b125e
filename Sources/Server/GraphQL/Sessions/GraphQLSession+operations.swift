internal import MartletChangeFeed
internal import MartletGraphQLExecution
internal import MartletGraphQLLanguage
internal import MartletGraphQLWire
internal import MartletJSON
internal import MartletModelSchema
internal import MartletRuntime
internal import MartletStore
internal import MartletVocabulary

/// What runs under one operation number.
enum SessionOperation {
  case running(RunningOperation)
  case member(Member)
  case stream(SpawnedTask)
}

extension GraphQLSession {
  func start(_ number: Int, _ id: OperationID, _ request: GraphQLRequest) {
    service.counters.add(.operations)
    let caller: Caller
    do {
      caller = try self.caller(of: number, request).get()
    } catch {
      return refuse(number, [error.response])
    }
    switch service.prepare(request, for: caller) {
    case .failure(let refusal):
      if let violation = refusal.violation { noteViolation(violation) }
      refuse(number, refusal.errors)
    case .success(let prepared):
      switch prepared.plan.kind {
      case .query, .mutation:
        if let refusal = kindRefusal() { return refuse(number, [refusal]) }
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
    case .member(let member):
      service.feed.remove(member)
    case .stream(let task): task.cancel()
    case nil: break
    }
  }

  // MARK: Queries and mutations

  private func run(_ number: Int, _ prepared: PreparedOperation, _ request: GraphQLRequest) {
    var isDone = false
    let operation = service.runner.run(
      prepared.plan, variables: request.variables, scope: prepared.scope
    ) { [weak self] result in
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
    _ number: Int, _ id: OperationID, _ prepared: PreparedOperation, _ request: GraphQLRequest
  ) {
    let plan = prepared.plan
    do {
      let variables = try plan.coerce(variables: request.variables)
      let (field, arguments) = try plan.subscribedField(variables: variables)
      guard
        let group = try service.group(
          prepared, request.operationName, variables, field.name, arguments,
          refusesSeveralOperators: machine.dialect?.refusesSeveralOperators == true)
      else {
        return open(number, prepared, request)
      }
      let key = GroupKey(
        schemaVersion: service.node.models.version, document: prepared.canonical,
        operation: request.operationName ?? "", variables: JSONValue.object(variables).serialized(),
        viewer: service.viewer(of: prepared, group, variables))
      let continuity = try RequestContinuity(extensions: request.extensions)
      let member = Member(
        number: number, prefix: machine.eventPrefix(id), hasCursors: machine.continuity(of: number).cursors,
        subscriber: self, since: service.feed.applied)
      try service.feed.add(member, to: group, key: key)
      operations[number] = .member(member)
      begin(member, continuity)
    } catch let error as SubscriptionError {
      refuse(number, error.response.tree.errors)
    } catch let error as VariableErrors {
      refuse(number, error.errors.map { ResponseError($0) })
    } catch let error as GraphQLRequestError {
      refuse(number, [ResponseError(error.description, extensions: ["code": "BAD_USER_INPUT"])])
    } catch let error as SubscriptionIndexError {
      refuse(number, [ResponseError(error.description, extensions: ["code": "TOO_MANY_FILTERS"])])
    } catch let error as FilterError where error.isAmbiguous {
      refuse(number, [ResponseError(error.description, extensions: ["code": "AMBIGUOUS_FILTER"])])
    } catch {
      let error = StoreErrors.resolverError(error)
      refuse(number, [ResponseError(error.message, extensions: error.extensions)])
    }
  }

  /// Whether the events after a resume's cursor can all be sent is decided before anything is sent.
  private func begin(_ member: Member, _ continuity: RequestContinuity) {
    let asked = member.hasCursors ? continuity : RequestContinuity()
    if asked.fromOldest, asked.resume == nil { return catchUp(member, after: service.feed.beforeOldest) }
    guard let resume = asked.resume ?? stream?.startsBehind else { return service.feed.begin(member) }
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
    _ number: Int, _ prepared: PreparedOperation, _ request: GraphQLRequest
  ) {
    let plan = prepared.plan
    let bound = LoopBound(self, on: service.loop)
    let context = RequestContext(value: prepared.scope, identity: prepared.scope.identity)
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
