internal import MartletRuntime

/// The tokens of one user in a storage. What is done with them is done one after the other, so that what was decided
/// last is what the storage holds.
final class TokenStorage: Sendable {
  private struct State {
    var isBusy = false
    var line: [CheckedContinuation<Void, Never>] = []
    /// Whether the storage did not take what it was given last, and when that was, in milliseconds since 1970.
    var failed: Int64?
  }

  /// How long a storage that has failed is left alone.
  private static let pause: Int64 = 10_000

  private let storage: any CredentialStorage
  private let name: String
  private let calendar: @Sendable () -> Int64
  private let state = Lock(State())

  init(_ storage: any CredentialStorage, _ name: String, calendar: @escaping @Sendable () -> Int64) {
    self.storage = storage
    self.name = name
    self.calendar = calendar
  }

  /// Does something with the tokens before anything else is done with them.
  func inTurn<Value>(_ body: () async throws -> Value) async rethrows -> Value {
    await withCheckedContinuation { (turn: CheckedContinuation<Void, Never>) in
      let isFree = state.withLock { state in
        guard state.isBusy else {
          state.isBusy = true
          return true
        }
        state.line.append(turn)
        return false
      }
      if isFree { turn.resume() }
    }
    defer {
      let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
        guard !state.line.isEmpty else {
          state.isBusy = false
          return nil
        }
        return state.line.removeFirst()
      }
      next?.resume()
    }
    return try await body()
  }

  /// What is kept; nil for nothing, and for what cannot be read as tokens.
  func read() async throws(OIDCError) -> TokenSet? {
    do {
      return try await storage.read(name).flatMap { TokenSet(stored: $0) }
    } catch {
      throw OIDCError(.storage, "The tokens cannot be read from the storage.")
    }
  }

  func write(_ tokens: TokenSet?) async throws(OIDCError) {
    do {
      try await storage.write(tokens?.stored, name)
      state.withLock { $0.failed = nil }
    } catch {
      state.withLock { $0.failed = calendar() }
      throw OIDCError(.storage, "The tokens cannot be kept in the storage.")
    }
  }

  /// Whether the storage holds what it was given last.
  var isCurrent: Bool { state.withLock { $0.failed == nil } }

  /// Whether the storage is to be given again what it did not take.
  var isToRepeat: Bool {
    guard let failed = state.withLock({ $0.failed }) else { return false }
    return !(failed..<failed + Self.pause).contains(calendar())
  }
}
