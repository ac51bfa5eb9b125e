/// What a descriptor is ready for, or what its owner waits for.
package struct Readiness: OptionSet, Sendable, Hashable {
  package let rawValue: UInt32
  package init(rawValue: UInt32) { self.rawValue = rawValue }

  package static var readable: Readiness { Readiness(rawValue: 1) }
  package static var writable: Readiness { Readiness(rawValue: 2) }
  /// The descriptor has a pending error. Reported whether waited for or not.
  package static var failed: Readiness { Readiness(rawValue: 4) }
  /// Both directions are shut. Reported whether waited for or not.
  package static var hungUp: Readiness { Readiness(rawValue: 8) }
}

/// Called when a watched descriptor is ready, on the loop.
package protocol ReadinessHandler: AnyObject {
  /// Reported again in the next turn while the condition holds (level-triggered).
  func ready(_ readiness: Readiness)
}

/// Names one watched descriptor of a loop; never used again after `unwatch`, even when the descriptor's number is.
package struct WatchToken: Sendable, Hashable {
  package let rawValue: UInt64
  package init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// A loop that can wait for descriptors: what libraries with sockets of their own (libcurl, libpq) are driven by.
/// Everything here is for the loop's own thread.
package protocol DescriptorLoop: Loop {
  /// Reports readiness of `descriptor` to `handler`, which stays alive until `unwatch`.
  /// Nil when the system refuses the descriptor or has no memory for it.
  func watch(_ descriptor: Int32, for interest: Readiness, handler: any ReadinessHandler) -> WatchToken?
  /// Changes what is waited for.
  func rewatch(_ token: WatchToken, _ descriptor: Int32, for interest: Readiness)
  /// Ends the watch; the descriptor stays open. Events already gathered in this turn are dropped.
  func unwatch(_ token: WatchToken, _ descriptor: Int32)
}
