internal import MartletHTTPWire
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

/// Names of files for storages that keep one file for each name.
package enum CredentialFile {
  /// A name in hexadecimal, so that no name leaves a folder. Of long ones a digest and the end, so that two that end
  /// alike are two files.
  package static func name(of name: String) -> String {
    let digits = digits(of: Array(name.utf8))
    guard digits.utf8.count > 200 else { return digits }
    return "\(Self.digits(of: SHA256.digest(Array(name.utf8))))-\(digits.suffix(128))"
  }

  private static func digits(of bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}
