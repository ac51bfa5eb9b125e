#if !canImport(Combine)
  /// The subscription a stage has upstream, once it has one.
  ///
  /// `@unchecked Sendable` holds because its variables are touched only inside `guarded`.
  final class Bond: @unchecked Sendable {
    private let guarded = Guard()
    private var subscription: (any Subscription)?
    private var isCancelled = false

    /// Cancels at once what comes after `cancel()`.
    func set(_ subscription: any Subscription) {
      let isLate = guarded {
        if !isCancelled { self.subscription = subscription }
        return isCancelled
      }
      if isLate { subscription.cancel() }
    }

    func request(_ demand: Subscribers.Demand) {
      guarded { subscription }?.request(demand)
    }

    func cancel() {
      let taken = guarded {
        defer { subscription = nil }
        isCancelled = true
        return subscription
      }
      taken?.cancel()
    }
  }
#endif
