#if !canImport(Combine)
  extension Publisher {
    /// Each value changed.
    public func map<Changed>(_ transform: @escaping (Output) -> Changed) -> some Publisher<Changed, Failure> {
      Transformed(upstream: self) { { transform($0) } }
    }

    /// The values that fulfil a condition.
    public func filter(_ isIncluded: @escaping (Output) -> Bool) -> some Publisher<Output, Failure> {
      Transformed(upstream: self) { { isIncluded($0) ? $0 : nil } }
    }

    /// Each value changed, without those that become nil.
    public func compactMap<Changed>(
      _ transform: @escaping (Output) -> Changed?
    ) -> some Publisher<Changed, Failure> {
      Transformed(upstream: self) { transform }
    }

    /// The values that differ from the one before; `predicate` says whether two are the same.
    public func removeDuplicates(
      by predicate: @escaping (Output, Output) -> Bool
    ) -> some Publisher<Output, Failure> {
      Transformed(upstream: self) {
        var last: Output?
        return { value in
          if let last, predicate(last, value) { return nil }
          last = value
          return value
        }
      }
    }

    /// The same values, with the failure changed.
    public func mapError<Changed: Error>(
      _ transform: @escaping (Failure) -> Changed
    ) -> some Publisher<Output, Changed> {
      Completed(upstream: self) { .failure(transform($0)) }
    }

    /// The same values, and in place of a failure one more, then the end.
    public func replaceError(with value: Output) -> some Publisher<Output, Never> {
      Completed(upstream: self, last: value) { _ in .finished }
    }
  }

  extension Publisher where Output: Equatable {
    /// The values that differ from the one before.
    public func removeDuplicates() -> some Publisher<Output, Failure> { removeDuplicates(by: ==) }
  }

  /// Each value through a step; each subscriber has a step of its own, which may remember.
  private struct Transformed<Upstream: Publisher, Output>: Publisher {
    typealias Failure = Upstream.Failure

    let upstream: Upstream
    let makeStep: () -> (Upstream.Output) -> Output?

    func receive<Downstream: Subscriber>(subscriber: Downstream)
    where Downstream.Input == Output, Downstream.Failure == Failure {
      upstream.receive(subscriber: Stage<Upstream.Output, Downstream>(subscriber, makeStep()))
    }

    final class Stage<Input, Downstream: Subscriber>: Subscriber {
      typealias Failure = Downstream.Failure

      private let downstream: Downstream
      private let step: (Input) -> Downstream.Input?

      init(_ downstream: Downstream, _ step: @escaping (Input) -> Downstream.Input?) {
        self.downstream = downstream
        self.step = step
      }

      func receive(subscription: any Subscription) { downstream.receive(subscription: subscription) }

      func receive(_ input: Input) -> Subscribers.Demand {
        // What is left out does not count as what was asked for.
        guard let output = step(input) else { return .max(1) }
        return downstream.receive(output)
      }

      func receive(completion: Subscribers.Completion<Failure>) { downstream.receive(completion: completion) }
    }
  }

  /// The same values with another end, perhaps after one last value.
  private struct Completed<Upstream: Publisher, Failure: Error>: Publisher {
    typealias Output = Upstream.Output

    let upstream: Upstream
    var last: Output?
    let end: (Upstream.Failure) -> Subscribers.Completion<Failure>

    func receive<Downstream: Subscriber>(subscriber: Downstream)
    where Downstream.Input == Output, Downstream.Failure == Failure {
      upstream.receive(subscriber: Stage<Downstream>(subscriber, last, end))
    }

    final class Stage<Downstream: Subscriber>: Subscriber where Downstream.Input == Output {
      typealias Input = Output
      typealias Failure = Upstream.Failure

      private let outlet: Outlet<Output, Downstream.Failure>
      private let downstream: Downstream
      private let upstream = Bond()
      private let last: Output?
      private let end: (Upstream.Failure) -> Subscribers.Completion<Downstream.Failure>

      init(
        _ downstream: Downstream, _ last: Output?,
        _ end: @escaping (Upstream.Failure) -> Subscribers.Completion<Downstream.Failure>
      ) {
        self.downstream = downstream
        self.last = last
        self.end = end
        let upstream = self.upstream
        outlet = Outlet(
          downstream, onTaken: { upstream.request(.max(1)) }, onCancel: { _ in upstream.cancel() })
      }

      func receive(subscription: any Subscription) {
        upstream.set(subscription)
        downstream.receive(subscription: outlet)
        outlet.open()
        upstream.request(.max(Outlet<Output, Failure>.limit))
      }

      func receive(_ input: Output) -> Subscribers.Demand {
        outlet.send(input)
        return .none
      }

      func receive(completion: Subscribers.Completion<Failure>) {
        switch completion {
        case .finished: outlet.finish(.finished)
        case .failure(let error):
          if let last { outlet.send(last) }
          outlet.finish(end(error))
        }
      }
    }
  }
#endif
