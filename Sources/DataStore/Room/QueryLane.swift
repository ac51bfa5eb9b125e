internal import MartletGraphQLClient
internal import MartletRuntime
internal import MartletStore

/// Where queries run while the store's thread is in a transaction: a thread and a connection of their own, which see
/// what is committed. Both are made when they are needed first.
///
/// `@unchecked Sendable` holds because `reader` is used only by work that `thread` runs, one piece after the other, and
/// `thread` is made once, behind `place`.
final class QueryLane: @unchecked Sendable {
  private let open: @Sendable () throws(StoreError) -> ClientReader
  private let makeThread: @Sendable () -> any StoreLane
  private let place = Lock<(any StoreLane)?>(nil)
  private var reader: ClientReader?

  /// A lane whose connection `open` makes.
  init(
    thread: @escaping @Sendable () -> any StoreLane, open: @escaping @Sendable () throws(StoreError) -> ClientReader
  ) {
    makeThread = thread
    self.open = open
  }

  deinit { place.withLock { $0 }?.end() }

  /// Runs `body` over what is committed. Nil when that cannot be read here: the store's own thread then says why, or
  /// knows better.
  func read<Value: Sendable>(_ body: @escaping @Sendable (any ClientReading) throws -> Value) async -> Value? {
    let thread = place.withLock { place in
      if let place { return place }
      let thread = makeThread()
      place = thread
      return thread
    }
    return await withCheckedContinuation { continuation in
      thread.execute { [self] in
        do {
          let reader = try self.reader ?? open()
          self.reader = reader
          continuation.resume(returning: try reader.reading(body))
        } catch {
          continuation.resume(returning: nil)
        }
      }
    }
  }
}
