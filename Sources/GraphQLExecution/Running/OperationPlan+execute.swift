import MartletGraphQLLanguage
package import MartletJSON

extension OperationPlan {
  /// Runs an operation whose fields all answer at once. For loops: no task, no waiting.
  ///
  /// Nil when the operation runs user code or waits for something, and so has to go through `execute` or `Execution`.
  package func executeSynchronously(
    variables given: JSONObject, context: RequestContext = RequestContext(), root: ResolvedValue = .null
  ) -> ResponseTree? {
    let variables: JSONObject
    do {
      variables = try coerce(variables: given)
    } catch {
      return .requestError(error.errors)
    }
    let variant = variant(for: variables)
    guard !variant.runsUserCode, !variant.isDeferred else { return nil }
    let execution = Execution(self, variant: variant, variables: variables, context: context, root: root)
    execution.start()
    return execution.result
  }

  /// Runs an operation to its end. User code runs on no executor but the concurrent pool, whatever the caller's task
  /// prefers, unless `place` says otherwise.
  @concurrent
  package func execute(
    variables given: JSONObject, context: RequestContext = RequestContext(), root: ResolvedValue = .null,
    place: UserCodePlace = .pool
  ) async -> ResponseTree {
    let variables: JSONObject
    do {
      variables = try coerce(variables: given)
    } catch {
      return .requestError(error.errors)
    }
    return await execute(coerced: variables, context: context, root: root, place: place)
  }

  /// The same with variables that are coerced already, as for each event of a subscription.
  @concurrent
  package func execute(
    coerced variables: JSONObject, context: RequestContext, root: ResolvedValue, place: UserCodePlace
  ) async -> ResponseTree {
    await place.run {
      await self.run(variables: variables, context: context, root: root)
    }
  }

  @concurrent
  private func run(variables: JSONObject, context: RequestContext, root: ResolvedValue) async -> ResponseTree {
    let execution = Execution(
      self, variant: variant(for: variables), variables: variables, context: context, root: root)
    await finish(execution)
    return execution.result
  }

  /// Runs all that is not delivered later.
  func finish(_ execution: Execution) async {
    execution.start()
    while !execution.isFinished {
      let works = execution.takeWork()
      if works.isEmpty { break }
      if works.count == 1 {
        // A lone call needs no task of its own.
        execution.complete(works[0].id, await works[0].call.perform())
      } else {
        await finish(works, of: execution)
      }
      if Task.isCancelled {
        execution.abandon("The operation was cancelled.")
        break
      }
    }
  }

  /// Makes calls side by side, and those that their answers make possible, until none is left under way.
  private func finish(_ works: [FieldWork], of execution: Execution) async {
    await withTaskGroup(of: (Int, ResolverResults).self) { group in
      var next = works
      while true {
        for work in next {
          let (id, call) = (work.id, work.call)
          group.addTask { (id, await call.perform()) }
        }
        guard let (id, results) = await group.next() else { return }
        execution.complete(id, results)
        next = Task.isCancelled ? [] : execution.takeWork()
      }
    }
  }
}

/// Where user code runs.
package enum UserCodePlace: Sendable {
  /// The concurrent pool, even when the calling task prefers another executor.
  case pool
  /// Where the calling task runs; for a simulation, whose one executor must see every job.
  case inherited

  @concurrent
  func run<Answer: Sendable>(_ body: @concurrent @Sendable () async -> Answer) async -> Answer {
    switch self {
    case .inherited:
      return await body()
    case .pool:
      if #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) {
        return await withTaskExecutorPreference(globalConcurrentExecutor) { await body() }
      }
      return await body()
    }
  }
}
