#if !canImport(Combine)
  extension Publisher {
    /// One subscription upstream for all subscribers: made with the first of them, cancelled with the last. Each gets
    /// the values from its attachment on.
    public func share() -> some Publisher<Output, Failure> { Shared(self) }
  }

  /// `@unchecked Sendable` holds because its variables are touched only inside `guarded`.
  private final class Shared<Upstream: Publisher>: Publisher, @unchecked Sendable {
    typealias Output = Upstream.Output
    typealias Failure = Upstream.Failure

    private let upstream: Upstream
    private let guarded = Guard()
    private var outlets: [Outlet<Output, Failure>] = []
    private var bond: Bond?
    private var end: Subscribers.Completion<Failure>?
    /// A value was taken and no further one was asked for yet, because somebody had no room.
    private var owesRequest = false

    init(_ upstream: Upstream) {
      self.upstream = upstream
    }

    func receive<Downstream: Subscriber>(subscriber: Downstream)
    where Downstream.Input == Output, Downstream.Failure == Failure {
      let outlet = makeOutlet(subscriber)
      let (bond, end) = add(outlet)
      subscriber.receive(subscription: outlet)
      outlet.open()
      if let end { outlet.finish(end) }
      if let bond { upstream.receive(subscriber: Inlet(self, bond)) }
    }

    private func makeOutlet(_ subscriber: any Subscriber<Output, Failure>) -> Outlet<Output, Failure> {
      Outlet(subscriber, onTaken: { [weak self] in self?.requestIfRoom() }, onCancel: { self.remove($0) })
    }

    /// Answers the bond to make upstream, for the first, or the end, when it has come.
    private func add(_ outlet: Outlet<Output, Failure>) -> (Bond?, Subscribers.Completion<Failure>?) {
      guarded {
        if let end { return (nil, end) }
        outlets.append(outlet)
        if bond != nil { return (nil, nil) }
        let bond = Bond()
        self.bond = bond
        owesRequest = false
        return (bond, nil)
      }
    }

    private func remove(_ outlet: Outlet<Output, Failure>) {
      let last = guarded { () -> Bond? in
        outlets.removeAll { $0 === outlet }
        guard outlets.isEmpty else { return nil }
        defer { bond = nil }
        return bond
      }
      last?.cancel()
      requestIfRoom()
    }

    private func requestIfRoom() {
      let bond = guarded { () -> Bond? in
        guard owesRequest, outlets.allSatisfy(\.hasRoom) else { return nil }
        owesRequest = false
        return self.bond
      }
      bond?.request(.max(1))
    }

    private func receive(_ value: Output, _ bond: Bond) -> Subscribers.Demand {
      for outlet in guarded({ self.bond === bond ? outlets : [] }) { outlet.send(value) }
      return guarded {
        owesRequest = !outlets.allSatisfy(\.hasRoom)
        return owesRequest ? .none : .max(1)
      }
    }

    private func receive(_ completion: Subscribers.Completion<Failure>, _ bond: Bond) {
      let outlets = guarded { () -> [Outlet<Output, Failure>] in
        guard self.bond === bond else { return [] }
        end = completion
        defer { self.outlets = [] }
        return self.outlets
      }
      for outlet in outlets { outlet.finish(completion) }
    }

    private final class Inlet: Subscriber {
      typealias Input = Upstream.Output
      typealias Failure = Upstream.Failure

      private let shared: Shared
      private let bond: Bond

      init(_ shared: Shared, _ bond: Bond) {
        self.shared = shared
        self.bond = bond
      }

      func receive(subscription: any Subscription) {
        bond.set(subscription)
        subscription.request(.max(1))
      }

      func receive(_ input: Input) -> Subscribers.Demand { shared.receive(input, bond) }
      func receive(completion: Subscribers.Completion<Failure>) { shared.receive(completion, bond) }
    }
  }
#endif
