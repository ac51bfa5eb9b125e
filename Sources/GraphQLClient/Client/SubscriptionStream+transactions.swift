/// What a subscription hands out as far as transactions are concerned.
public protocol SubscriptionResult: Sendable {
  /// Set when results are missing here.
  var gap: EventGap? { get }
  /// Whether this is the last result of its transaction, as far as the server says.
  var endsTransaction: Bool { get }
}

extension GraphQLResponse: SubscriptionResult {}

/// The events of one transaction of the server, in order.
public struct SubscriptionTransaction<Response: SubscriptionResult>: Sendable {
  /// The results; of a gap, the one element that stands for it.
  public var responses: [Response]
  /// Whether the server marked the last one as the transaction's end. False when a gap, the subscription's end or the
  /// bound of `transactions(ofAtMost:)` cut it.
  public var isComplete: Bool
  /// Set when events are missing here; `responses` then has nothing else.
  public var gap: EventGap? { responses.first?.gap }
}

/// The results of a subscription by transactions; see `SubscriptionStream.transactions`.
public struct SubscriptionTransactions<Response: SubscriptionResult>: AsyncSequence, Sendable {
  /// One transaction.
  public typealias Element = SubscriptionTransaction<Response>
  let stream: SubscriptionStream<Response>
  let most: Int

  /// An iterator; the stream's one consumer.
  public func makeAsyncIterator() -> Iterator { Iterator(results: stream.makeAsyncIterator(), most: most) }

  /// Takes transactions, one after the other.
  public struct Iterator: AsyncIteratorProtocol {
    var results: SubscriptionStream<Response>.Iterator
    let most: Int
    /// What came after the transaction before.
    private var next: Response?
    private var isOver = false

    init(results: SubscriptionStream<Response>.Iterator, most: Int) {
      self.results = results
      self.most = most
    }

    /// The next transaction; nil when the subscription has completed or was cancelled.
    /// - Throws: as the stream's own iterator. Results of a transaction that had not ended are dropped then.
    public mutating func next() async throws -> Element? {
      var group: [Response] = []
      while !isOver {
        guard let response = try await taken() else {
          isOver = true
          break
        }
        if response.gap != nil {
          guard group.isEmpty else {
            next = response
            return Element(responses: group, isComplete: false)
          }
          return Element(responses: [response], isComplete: true)
        }
        group.append(response)
        if response.endsTransaction { return Element(responses: group, isComplete: true) }
        if group.count >= most { return Element(responses: group, isComplete: false) }
      }
      return group.isEmpty ? nil : Element(responses: group, isComplete: false)
    }

    private mutating func taken() async throws -> Response? {
      if let waiting = next {
        next = nil
        return waiting
      }
      return try await results.next()
    }
  }
}

extension SubscriptionStream where Element: SubscriptionResult {
  /// The results by transactions of the server: what one write changed together comes together.
  ///
  ///     for try await transaction in stream.transactions {
  ///       await MainActor.run { for result in transaction.responses { board.apply(result.data) } }
  ///     }
  ///
  /// Servers that say nothing about transactions give transactions of one result. At most 10,000 results are gathered;
  /// `transactions(ofAtMost:)` takes another bound.
  public var transactions: SubscriptionTransactions<Element> { transactions(ofAtMost: 10_000) }

  /// The results by transactions; one with more results than `most` comes in pieces, the last of them complete.
  public func transactions(ofAtMost most: Int) -> SubscriptionTransactions<Element> {
    SubscriptionTransactions(stream: self, most: Swift.max(1, most))
  }
}
