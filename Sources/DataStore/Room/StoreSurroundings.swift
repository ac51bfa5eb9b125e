package import MartletRuntime
package import MartletSQLite
package import MartletStore
package import MartletVocabulary

/// What a store runs on: the system's threads, clocks and chance, or a simulation's.
package struct StoreSurroundings: Sendable {
  /// Makes the executor on which everything of a store happens, one piece of work after the other.
  package var thread: @Sendable () -> any StoreLane
  /// Makes the store's timer.
  package var timer: @Sendable () -> any SyncTiming
  /// Starts tasks.
  package var spawner: any Spawner
  /// A monotonic clock.
  package var now: @Sendable () -> Instant
  /// Milliseconds since 1970 of this machine's clock, which may be wrong and may jump.
  package var milliseconds: @Sendable () -> Int64
  /// A source of chance for names and delays.
  package var chance: @Sendable () -> any RandomNumberGenerator & Sendable
  /// The disk of a store in memory; nil for a new one.
  package var files: MemoryFiles?
  /// Pages of write-ahead log after which a store in memory moves them into the file; nil for as many as on a disk.
  package var checkpointPages: Int?
  /// Changes of the feed that may wait for a sync; nil for as many as the engine allows.
  package var heldChanges: Int?

  package init(
    thread: @escaping @Sendable () -> any StoreLane, timer: @escaping @Sendable () -> any SyncTiming,
    spawner: any Spawner, now: @escaping @Sendable () -> Instant, milliseconds: @escaping @Sendable () -> Int64,
    chance: @escaping @Sendable () -> any RandomNumberGenerator & Sendable, files: MemoryFiles? = nil
  ) {
    self.thread = thread
    self.timer = timer
    self.spawner = spawner
    self.now = now
    self.milliseconds = milliseconds
    self.chance = chance
    self.files = files
  }

  /// Those of the system.
  package static let system = StoreSurroundings(
    thread: { StoreThread() }, timer: { SyncTimer() }, spawner: ConcurrentSpawner(), now: { MonotonicClock.now() },
    milliseconds: { WallClock.milliseconds() }, chance: { SystemChance.generator() })
}

/// A store's executor, which can be ended from any thread, its own included.
package protocol StoreLane: StoreExecutor {
  /// Runs what was given, then ends. Returns at once.
  func end()
}

extension StoreThread: StoreLane {}

/// Calls closures at given times, away from the caller.
package protocol SyncTiming: Sendable {
  /// Calls `fire` at `deadline`, in place of what was set under this name before.
  func set(_ name: TimerName, _ deadline: Instant, _ fire: @escaping @Sendable () -> Void)
}

/// What a store times; each has one time.
package enum TimerName: Int, Sendable, Hashable {
  case engine, snapshots
}
