#if !canImport(Combine)
  /// A publisher whose own type is hidden.
  public struct AnyPublisher<Output, Failure: Error>: Publisher {
    private let attach: (any Subscriber<Output, Failure>) -> Void

    /// Hides a publisher's type.
    public init<Upstream: Publisher>(_ publisher: Upstream)
    where Upstream.Output == Output, Upstream.Failure == Failure {
      attach = { Self.open(publisher, $0) }
    }

    private static func open<Upstream: Publisher, Downstream: Subscriber>(
      _ publisher: Upstream, _ subscriber: Downstream
    ) where Upstream.Output == Downstream.Input, Upstream.Failure == Downstream.Failure {
      publisher.receive(subscriber: subscriber)
    }

    /// Attaches a subscriber.
    public func receive<Downstream: Subscriber>(subscriber: Downstream)
    where Downstream.Input == Output, Downstream.Failure == Failure {
      attach(subscriber)
    }
  }

  extension Publisher {
    /// The same publisher without its type.
    public func eraseToAnyPublisher() -> AnyPublisher<Output, Failure> { AnyPublisher(self) }
  }
#endif
