/// A result of a subscription, or what a query returned in the place of results that are missing.
public enum CaughtUpResponse<Data: Sendable, Snapshot: Sendable>: Sendable {
  /// A result.
  case event(GraphQLResponse<Data>)
  /// Results are missing here; what the catch-up query returned in their place, or why it failed.
  case gap(EventGap, Result<Snapshot, any Error>)
}

/// A subscription with a query in the place of each gap; see `SubscriptionStream.catchingUp`.
public struct CaughtUpSequence<Data: Sendable, Snapshot: Sendable>: AsyncSequence, Sendable {
  /// One element.
  public typealias Element = CaughtUpResponse<Data, Snapshot>
  let stream: SubscriptionStream<GraphQLResponse<Data>>
  let query: @Sendable (EventGap) async throws -> Snapshot

  /// An iterator; the stream's one consumer.
  public func makeAsyncIterator() -> Iterator { Iterator(results: stream.makeAsyncIterator(), query: query) }

  /// Takes elements, one after the other.
  public struct Iterator: AsyncIteratorProtocol {
    var results: SubscriptionStream<GraphQLResponse<Data>>.Iterator
    let query: @Sendable (EventGap) async throws -> Snapshot

    /// The next result; at a gap, what the query returns. Nil when the subscription has completed or was cancelled.
    /// - Throws: as the stream's own iterator, and `CancellationError` when the task is cancelled during the query.
    public mutating func next() async throws -> Element? {
      guard let response = try await results.next() else { return nil }
      guard let gap = response.gap else { return .event(response) }
      do {
        return .gap(gap, .success(try await query(gap)))
      } catch is CancellationError where Task.isCancelled {
        throw CancellationError()
      } catch {
        return .gap(gap, .failure(error))
      }
    }
  }
}

extension SubscriptionStream {
  /// The subscription, with a query in the place of what is missing. The query runs when its turn comes, after the
  /// results before the gap; the results after it wait meanwhile, within the buffer's bound.
  ///
  ///     let flights = stream.catchingUp { _ in try await client.query(document, as: Board.self) }
  ///     for try await element in flights {
  ///       switch element {
  ///       case .event(let result): board.apply(result.data)
  ///       case .gap(_, let snapshot): board.replace(with: try snapshot.get().data)
  ///       }
  ///     }
  ///
  /// The query sees at least everything up to the gap's end, so what happened shortly after it may come twice: in the
  /// snapshot and as a result.
  public func catchingUp<Data, Snapshot: Sendable>(
    _ query: @escaping @Sendable (EventGap) async throws -> Snapshot
  ) -> CaughtUpSequence<Data, Snapshot> where Element == GraphQLResponse<Data> {
    CaughtUpSequence(stream: self, query: query)
  }
}
