import MartletGraphQLLanguage
package import MartletJSON

extension OperationPlan {
  /// Runs an operation and hands each payload of its response to `deliver`, one after the other, while the work on the
  /// next ones continues. Ends with the last payload, or early, without one, when the task is cancelled; no resolver
  /// is still running then.
  ///
  /// An operation that delivers nothing later has one payload.
  @concurrent
  package func execute(
    incrementally given: JSONObject, context: RequestContext = RequestContext(), format: IncrementalFormat = .current,
    place: UserCodePlace = .pool, deliver: @escaping @Sendable (IncrementalPayload) async -> Void
  ) async {
    let variables: JSONObject
    do {
      variables = try coerce(variables: given)
    } catch {
      return await deliver(.whole(.requestError(error.errors)))
    }
    let variant = variant(for: variables, format: format) ?? variant(for: variables)
    await execute(variant, coerced: variables, context: context, format: format, place: place, deliver: deliver)
  }

  /// The same with variables that are coerced already, and the variant for them.
  @concurrent
  package func execute(
    _ variant: PlanVariant, coerced variables: JSONObject, context: RequestContext, format: IncrementalFormat,
    place: UserCodePlace, deliver: @escaping @Sendable (IncrementalPayload) async -> Void
  ) async {
    await place.run {
      let execution = Execution(self, variant: variant, variables: variables, context: context)
      await self.finish(execution)
      let initial = execution.takeInitial()
      await deliver(initial)
      if initial.hasNext { await self.deliverRest(of: execution, format, deliver) }
    }
  }

  private func deliverRest(
    of execution: Execution, _ format: IncrementalFormat,
    _ deliver: @escaping @Sendable (IncrementalPayload) async -> Void
  ) async {
    await withTaskGroup(of: (Int, ResolverResults).self) { group in
      var isLast = false
      while !isLast, !Task.isCancelled {
        for work in execution.takeWork() {
          let (id, call) = (work.id, work.call)
          group.addTask { (id, await call.perform()) }
        }
        if let update = execution.takeUpdate() {
          isLast = !update.hasNext
          if !update.isSilent(in: format) { await deliver(.update(update)) }
        } else if let (id, results) = await group.next() {
          execution.complete(id, results)
        } else {
          isLast = true
        }
      }
      group.cancelAll()
    }
  }
}
