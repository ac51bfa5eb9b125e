#if !canImport(Combine)
  extension Publisher {
    /// Attaches closures, and asks for everything. Ends when the answer is cancelled or dropped.
    ///
    /// The closures are called by one thread at a time, on whatever thread values arrive; `receive(on:)` chooses it.
    public func sink(
      receiveCompletion: @escaping (Subscribers.Completion<Failure>) -> Void,
      receiveValue: @escaping (Output) -> Void
    ) -> AnyCancellable {
      let sink = Sink<Output, Failure>(receiveValue, receiveCompletion)
      receive(subscriber: sink)
      return AnyCancellable(sink)
    }
  }

  extension Publisher where Failure == Never {
    /// Attaches a closure, and asks for everything. Ends when the answer is cancelled or dropped.
    public func sink(receiveValue: @escaping (Output) -> Void) -> AnyCancellable {
      sink(receiveCompletion: { _ in }, receiveValue: receiveValue)
    }

    /// Writes each value into a property. Ends when the answer is cancelled or dropped.
    public func assign<Root>(to keyPath: ReferenceWritableKeyPath<Root, Output>, on object: Root) -> AnyCancellable {
      sink { object[keyPath: keyPath] = $0 }
    }
  }

  /// Hands values to closures until it is cancelled.
  ///
  /// `@unchecked Sendable` holds because its variables are touched only inside `guarded`, and the closures are called
  /// by its publisher, one thread at a time.
  private final class Sink<Input, Failure: Error>: Subscriber, Cancellable, @unchecked Sendable {
    private let guarded = Guard()
    private var receiveValue: ((Input) -> Void)?
    private var receiveCompletion: ((Subscribers.Completion<Failure>) -> Void)?
    private var subscription: (any Subscription)?

    init(
      _ receiveValue: @escaping (Input) -> Void,
      _ receiveCompletion: @escaping (Subscribers.Completion<Failure>) -> Void
    ) {
      self.receiveValue = receiveValue
      self.receiveCompletion = receiveCompletion
    }

    func receive(subscription: any Subscription) {
      let isWanted = guarded {
        let isWanted = receiveValue != nil && self.subscription == nil
        if isWanted { self.subscription = subscription }
        return isWanted
      }
      if isWanted { subscription.request(.unlimited) } else { subscription.cancel() }
    }

    func receive(_ input: Input) -> Subscribers.Demand {
      guarded { receiveValue }?(input)
      return .none
    }

    func receive(completion: Subscribers.Completion<Failure>) {
      take().completion?(completion)
    }

    func cancel() {
      take().subscription?.cancel()
    }

    /// The end, by either side: nothing is called afterwards.
    private func take() -> (subscription: (any Subscription)?, completion: ((Subscribers.Completion<Failure>) -> Void)?)
    {
      guarded {
        defer { (subscription, receiveValue, receiveCompletion) = (nil, nil, nil) }
        return (subscription, receiveCompletion)
      }
    }
  }
#endif
