internal import MartletRuntime

/// Keeps what a user is signed in with between runs of a program: the system's keychain, or what takes its place.
public protocol CredentialStorage: Sendable {
  /// What was kept under a name; nil for nothing.
  func read(_ name: String) async throws -> [UInt8]?
  /// Keeps bytes under a name in place of what was there; nil keeps nothing any longer.
  func write(_ bytes: [UInt8]?, _ name: String) async throws
}

/// Keeps credentials as long as the process lives.
public final class MemoryCredentialStorage: CredentialStorage {
  private let kept = Lock<[String: [UInt8]]>([:])

  /// Empty at first.
  public init() {}

  /// What was kept under a name.
  public func read(_ name: String) async throws -> [UInt8]? { kept.withLock { $0[name] } }

  /// Keeps bytes under a name.
  public func write(_ bytes: [UInt8]?, _ name: String) async throws { kept.withLock { $0[name] = bytes } }
}
