#if canImport(Combine)
  public import Combine

  /// Something that runs until it is cancelled: Combine's own where Combine exists. That one is not Sendable: a class
  /// of the main actor that holds one and cancels it at its end says `isolated deinit`.
  public typealias Cancellable = Combine.Cancellable
#else
  /// Something that runs until it is cancelled. Cancelling twice is as good as once, and possible from any thread: a
  /// deinitialiser of whatever isolation may do it.
  public protocol Cancellable: Sendable {
    /// Stops it; nothing is delivered afterwards.
    func cancel()
  }
#endif

extension SubscriptionStream: Cancellable {}
