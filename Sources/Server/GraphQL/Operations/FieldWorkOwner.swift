internal import MartletGraphQLExecution
internal import MartletRuntime

/// An execution's owner on a loop, which hands in what calls without a task answer. Confined to the loop.
protocol FieldWorkOwner: AnyObject {
  /// A call has answered.
  func answered(_ id: Int, _ results: ResolverResults)
}

extension [FieldWork] {
  /// Makes the calls, none of which needs a task. Each answers once, on the loop, perhaps before this returns.
  func call(for owner: any FieldWorkOwner, on loop: any Loop) {
    for work in self {
      let bound = LoopBound(owner, on: loop)
      let id = work.id
      let isCalled = work.performWithoutTask { results in
        if bound.loop.isCurrent {
          bound.value.answered(id, results)
        } else {
          bound.loop.execute { bound.value.answered(id, results) }
        }
      }
      precondition(isCalled, "an operation that runs on a loop makes no call that needs a task")
    }
  }
}
