#if canImport(Combine)
  public import Combine

  /// Something that runs until it is told to stop: Combine's own where Combine exists.
  public typealias Cancellable = Combine.Cancellable
#else
  /// Something that runs until it is told to stop. Cancelling twice is as good as once.
  public protocol Cancellable {
    /// Stops it; nothing is delivered afterwards.
    func cancel()
  }
#endif

extension SubscriptionStream: Cancellable {}
