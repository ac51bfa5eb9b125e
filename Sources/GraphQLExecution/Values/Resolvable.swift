public import MartletJSON

/// What a resolver may return.
public protocol Resolvable: SendableMetatype {
  /// The value as the executor reads it.
  var resolved: ResolvedValue { get }
}

extension ResolvedValue: Resolvable {
  /// The value as the executor reads it.
  public var resolved: ResolvedValue { self }
}

extension JSONValue: Resolvable {
  /// The value as the executor reads it.
  public var resolved: ResolvedValue { .value(self) }
}

extension String: Resolvable {
  /// The value as the executor reads it.
  public var resolved: ResolvedValue { .value(.string(self)) }
}

extension Int: Resolvable {
  /// The value as the executor reads it.
  public var resolved: ResolvedValue { .value(.int(Int64(self))) }
}

extension Int64: Resolvable {
  /// The value as the executor reads it.
  public var resolved: ResolvedValue { .value(.int(self)) }
}

extension Double: Resolvable {
  /// The value as the executor reads it.
  public var resolved: ResolvedValue { .value(.double(self)) }
}

extension Bool: Resolvable {
  /// The value as the executor reads it.
  public var resolved: ResolvedValue { .value(.bool(self)) }
}

extension Optional: Resolvable where Wrapped: Resolvable {
  /// The value as the executor reads it.
  public var resolved: ResolvedValue { self?.resolved ?? .null }
}

extension Array: Resolvable where Element: Resolvable {
  /// The value as the executor reads it.
  public var resolved: ResolvedValue { .list(map(\.resolved)) }
}
