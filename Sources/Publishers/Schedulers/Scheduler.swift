#if !canImport(Combine)
  public import Dispatch
  public import Foundation

  /// Where and when work runs.
  public protocol Scheduler {
    /// Runs work soon.
    func schedule(_ action: @escaping () -> Void)
  }

  extension DispatchQueue: Scheduler {
    /// Runs work on this queue.
    public func schedule(_ action: @escaping () -> Void) {
      let handed = Handed(action)
      async { handed.value() }
    }
  }

  extension OperationQueue: Scheduler {
    /// Runs work on this queue.
    public func schedule(_ action: @escaping () -> Void) {
      let handed = Handed(action)
      addOperation { handed.value() }
    }
  }

  extension RunLoop: Scheduler {
    /// Runs work in the loop's default mode.
    public func schedule(_ action: @escaping () -> Void) {
      let handed = Handed(action)
      perform { handed.value() }
    }
  }

  /// Runs work at once, inside the call.
  public struct ImmediateScheduler: Scheduler, Sendable {
    /// The one there is.
    public static let shared = ImmediateScheduler()
    /// Runs work at once.
    public func schedule(_ action: @escaping () -> Void) { action() }
  }
#endif
