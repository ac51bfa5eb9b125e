#if !canImport(Combine)
  extension Publisher {
    /// The same values, handed to subscribers by a queue or run loop, in order and one at a time also where the queue
    /// itself runs several things at once.
    public func receive<Context: Scheduler>(on scheduler: Context) -> some Publisher<Output, Failure> {
      Moved(upstream: self, scheduler: scheduler)
    }
  }

  private struct Moved<Upstream: Publisher, Context: Scheduler>: Publisher {
    typealias Output = Upstream.Output
    typealias Failure = Upstream.Failure

    let upstream: Upstream
    let scheduler: Context

    func receive<Downstream: Subscriber>(subscriber: Downstream)
    where Downstream.Input == Output, Downstream.Failure == Failure {
      upstream.receive(subscriber: Stage(subscriber, scheduler))
    }

    /// Asks upstream for as much as may wait on the way to the scheduler, so that a slow queue holds the source.
    final class Stage<Downstream: Subscriber>: Subscriber
    where Downstream.Input == Output, Downstream.Failure == Failure {
      typealias Input = Output
      typealias Failure = Downstream.Failure

      private let downstream: Downstream
      private let upstream = Bond()
      private let outlet: Outlet<Output, Failure>

      init(_ downstream: Downstream, _ scheduler: Context) {
        self.downstream = downstream
        let upstream = self.upstream
        outlet = Outlet(
          downstream, run: { scheduler.schedule($0) }, onTaken: { upstream.request(.max(1)) },
          onCancel: { _ in upstream.cancel() })
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

      func receive(completion: Subscribers.Completion<Failure>) { outlet.finish(completion) }
    }
  }
#endif
