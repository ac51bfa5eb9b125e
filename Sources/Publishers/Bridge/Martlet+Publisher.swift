@_exported public import MartletGraphQLClient
package import MartletRuntime

#if canImport(Combine)
  public import Combine
#endif

extension Martlet {
  /// Makes publishers of sequences.
  ///
  ///     let sequence = Martlet.API.subscribe(request: .subscription(of: Todo.self, type: .onCreate))
  ///     let publisher = Martlet.Publisher.create(sequence)
  ///     let all = publisher.sink { completion in … } receiveValue: { event in … }
  ///     let some = publisher.filter { … }.sink { … } receiveValue: { … }
  ///
  /// The elements from before the first attachment wait for it; each subscriber gets every element from its attachment
  /// on, in order. `sequence.cancel()` ends all of them with `finished`; cancelling any one of them, also by dropping
  /// its `AnyCancellable`, disconnects the sequence and ends the others with `finished`. A subscriber that cancels
  /// itself receives nothing more. An error of the sequence is `failure`.
  ///
  /// The publisher is the sequence's one consumer: two publishers of one sequence, or a publisher and a loop, are a
  /// programmer error, as two loops are. Attach several subscribers to one publisher instead.
  public enum Publisher {
    /// A publisher of a subscription's elements.
    public static func create<Element: Sendable>(
      _ sequence: SubscriptionStream<Element>
    ) -> AnyPublisher<Element, any Error> {
      create(sequence, on: ConcurrentSpawner())
    }

    /// A publisher of any sequence's elements. One that can be cancelled (`Cancellable`) is, together with the task
    /// that iterates it; others end with that task.
    public static func create<Source: AsyncSequence & Sendable>(
      _ sequence: Source
    ) -> AnyPublisher<Source.Element, any Error> where Source.Element: Sendable {
      SequencePublisher(relay: SequenceRelay(sequence, on: ConcurrentSpawner(), isCancelled: { false }))
        .eraseToAnyPublisher()
    }

    /// The same where the task that iterates is started by `spawner`.
    package static func create<Element: Sendable>(
      _ sequence: SubscriptionStream<Element>, on spawner: any Spawner
    ) -> AnyPublisher<Element, any Error> {
      let relay = SequenceRelay(sequence, on: spawner) { [core = sequence.core] in
        if case .finished(.cancelled) = core.state { return true }
        return false
      }
      return SequencePublisher(relay: relay).eraseToAnyPublisher()
    }
  }
}
