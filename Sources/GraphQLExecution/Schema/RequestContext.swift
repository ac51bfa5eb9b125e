public import MartletAccess
public import MartletVocabulary

/// What belongs to one request and is the same for all its resolvers.
public struct RequestContext: Sendable {
  /// The program's own value for this request, such as the signed-in user.
  public var value: (any Sendable)?
  /// The caller, as the server admitted it; `.guest` where nothing established one.
  public var identity: Identity
  /// When the client stops waiting; nil without a limit. Past it the operation's task is cancelled.
  public var deadline: Instant?
  /// Whether the caller may ask for the schema; nil for what the schema says of all callers.
  public var allowsIntrospection: Bool?

  /// A context with the given parts.
  public init(
    value: (any Sendable)? = nil, identity: Identity = .guest, deadline: Instant? = nil,
    allowsIntrospection: Bool? = nil
  ) {
    self.value = value
    self.identity = identity
    self.deadline = deadline
    self.allowsIntrospection = allowsIntrospection
  }

  /// The program's value, if it has the type asked for.
  public func value<Value>(as type: Value.Type) -> Value? {
    value as? Value
  }

  /// Whether the caller has gone and the result will be dropped.
  public var isCancelled: Bool { Task.isCancelled }
}
