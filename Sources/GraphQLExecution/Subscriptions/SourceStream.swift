/// How the source stream of a subscription field is opened.
package typealias StreamResolver = @concurrent @Sendable (FieldRequest) async throws -> SourceStream

/// A stream of events whose type has been forgotten (section 6.2.3.1 "Source Stream").
package struct SourceStream: Sendable {
  private let start: @Sendable () -> SourceEvents

  package init<Source: AsyncSequence & Sendable>(_ source: Source) where Source.Element: Resolvable & Sendable {
    start = { IteratorEvents(source.makeAsyncIterator()) }
  }

  /// Begins to read. The stream ends by itself, or when the answered object is cancelled or goes away.
  package func makeEvents() -> SourceEvents {
    start()
  }
}

/// The events of a source stream, one at a time.
///
/// `@unchecked Sendable` holds because a response stream's iterator owns the events and asks for one only after the
/// one before has come: it crosses to the place where user code runs, but is never in two places at once.
package class SourceEvents: @unchecked Sendable {
  /// The next event; nil at the end. After the end or an error the source has been let go.
  package func next() async throws -> ResolvedValue? { nil }

  /// Lets the source go.
  package func cancel() {}

  /// The first `count` elements as a list, followed by the rest unless the source ended before.
  func first(_ count: Int) async throws -> ResolvedValue {
    var items: [ResolvedValue] = []
    while items.count < count {
      try Task.checkCancellation()
      guard let item = try await next() else { return .list(items) }
      items.append(item)
    }
    return ResolvedValue(.partial(items, self))
  }
}

/// Reads an iterator whose type only this class knows.
/// `@unchecked Sendable` holds as for its superclass.
private final class IteratorEvents<Iterator: AsyncIteratorProtocol>: SourceEvents, @unchecked Sendable
where Iterator.Element: Resolvable {
  private var iterator: Iterator?

  init(_ iterator: Iterator) {
    self.iterator = iterator
  }

  override func next() async throws -> ResolvedValue? {
    guard var current = iterator else { return nil }
    // The source belongs to this call alone; it comes back unless it ended, failed or was let go meanwhile.
    iterator = nil
    guard let event = try await current.next(isolation: #isolation) else { return nil }
    iterator = current
    return event.resolved
  }

  override func cancel() {
    iterator = nil
  }
}
