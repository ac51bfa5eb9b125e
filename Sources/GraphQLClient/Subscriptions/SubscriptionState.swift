public import MartletVocabulary

/// Where a subscription stands.
public enum SubscriptionState: Sendable {
  /// Not sent yet. Next: active, paused, finished.
  case pending
  /// Sent; with servers that speak of cursors: confirmed to be live. `SubscriptionStream.isConfirmed` says which.
  case active
  /// The connection was lost and is being dialled again. Next: active, paused, finished.
  case reconnecting
  /// `pause()` was called. Next: active, finished.
  case paused
  /// Over.
  case finished(SubscriptionEnd)

  /// Whether it is over.
  public var isFinished: Bool {
    switch self {
    case .finished: true
    case .pending, .active, .reconnecting, .paused: false
    }
  }

  /// Whether both are the same of the five, however they finished.
  func isSameStep(as other: SubscriptionState) -> Bool {
    func step(_ state: SubscriptionState) -> Int {
      switch state {
      case .pending: 0
      case .active: 1
      case .reconnecting: 2
      case .paused: 3
      case .finished: 4
      }
    }
    return step(self) == step(other)
  }
}

/// How a subscription ended.
public enum SubscriptionEnd: Sendable {
  /// The server said so.
  case completed
  /// The consumer left.
  case cancelled
  /// It failed; iteration throws the same error.
  case error(any Error)
}

extension SubscriptionState: CustomStringConvertible {
  /// The state's name, with how it ended.
  public var description: String {
    switch self {
    case .pending: "pending"
    case .active: "active"
    case .reconnecting: "reconnecting"
    case .paused: "paused"
    case .finished(.completed): "finished(completed)"
    case .finished(.cancelled): "finished(cancelled)"
    case .finished(.error(let error)): "finished(error: \(error))"
    }
  }
}

/// A gap in a subscription's events that nothing can fill; delivered in place of what is missing.
public struct EventGap: Sendable, Hashable, CustomStringConvertible {
  /// Why. New reasons may be added.
  public struct Reason: RawRepresentable, Sendable, Hashable {
    /// The word on the wire, or this library's.
    public var rawValue: String
    /// A reason by its word.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// The server cannot replay what was sent while the client was away.
    public static let serverCannotResume = Reason(rawValue: "serverCannotResume")
    /// The consumer was too slow and its policy drops.
    public static let slowConsumer = Reason(rawValue: "slowConsumer")
    /// What is missing lies beyond the server's retention.
    public static let retention = Reason(rawValue: "retention")
    /// The server's log is not the one the cursor is from.
    public static let lineage = Reason(rawValue: "lineage")
    /// What the caller may see has changed while it was away, or while it listened.
    public static let viewChanged = Reason(rawValue: "view-changed")
  }

  /// Why events are missing.
  public var reason: Reason
  /// The last place that was seen, if it is known.
  public var from: Cursor?
  /// The cursor after which events continue, if it is known.
  public var to: Cursor?
  /// How many events were dropped on this side; nil when that is unknown.
  public var dropped: Int?

  /// The reason, and what is known of the hole.
  public var description: String {
    let places = from == nil && to == nil ? "" : " from \(from.map { "\($0)" } ?? "?") to \(to.map { "\($0)" } ?? "?")"
    return "gap(\(reason.rawValue)\(places)\(dropped.map { ", \($0) dropped" } ?? ""))"
  }

  /// A gap with the given parts.
  public init(_ reason: Reason, from: Cursor? = nil, to: Cursor? = nil, dropped: Int? = nil) {
    self.reason = reason
    self.from = from
    self.to = to
    self.dropped = dropped
  }
}
