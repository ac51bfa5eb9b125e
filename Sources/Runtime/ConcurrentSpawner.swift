/// Starts tasks on the process's concurrent pool, never on a loop: the only file that creates tasks in production.
///
/// The tasks are detached, so that they inherit neither an actor nor a loop's executor preference from their starter.
package struct ConcurrentSpawner: Spawner {
  package init() {}

  @discardableResult
  package func spawn(_ body: @escaping @Sendable () async -> Void) -> SpawnedTask {
    let task = Task.detached { await body() }
    return SpawnedTask { task.cancel() }
  }
}
