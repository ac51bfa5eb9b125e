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

  /// Runs `body` with the connection, away from the caller; `otherwise` when there is none, or `body` fails.
  func run(
    _ body: @escaping @Sendable (ClientReader) throws -> Void, otherwise: @escaping @Sendable () -> Void
  ) {
    lane.execute { [self] in
      do { try body(try connected()) } catch { otherwise() }
    }
  }

  /// Runs `body` over what is committed. Nil when that cannot be read here: the store's own thread then says why, or
  /// knows better.
  func read<Value: Sendable>(_ body: @escaping @Sendable (any ClientReading) throws -> Value) async -> Value? {
    await withCheckedContinuation { continuation in
      lane.execute { [self] in
        do {
          continuation.resume(returning: try connected().reading(body))
        } catch {
          continuation.resume(returning: nil)
        }
      }
    }
  }

  private var lane: any StoreLane {
    place.withLock { place in
      if let place { return place }
      let thread = makeThread()
      place = thread
      return thread
    }
  }

  /// The connection, on the lane's thread.
  private func connected() throws(StoreError) -> ClientReader {
    if let reader { return reader }
    let reader = try open()
    self.reader = reader
    return reader
  }
}
