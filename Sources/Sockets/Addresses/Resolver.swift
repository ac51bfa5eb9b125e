internal import CMartletSystem
package import MartletLoop
internal import MartletRuntime

/// Looks names up on helper threads, because the system's resolver blocks. Numeric addresses need none.
package final class Resolver: Sendable {
  package typealias Answer = Result<[SocketAddress], ResolverFailure>

  package struct ResolverFailure: Error, Sendable, Equatable {
    package var message: String
  }

  private struct State {
    var waiting: [@Sendable () -> Void] = []
    var threads = 0
  }

  package static let shared = Resolver()

  /// Look-ups at a time; further ones wait. A stuck name server holds up names, nothing else.
  private static let maximumThreads = 4
  /// Addresses of one name that are tried.
  private static let maximumAddresses = 16

  private let state = Lock(State())

  package init() {}

  /// Answers the addresses of `host` in the system's order, on any thread, exactly once.
  package func resolve(_ host: String, port: Int, completion: @escaping @Sendable (Answer) -> Void) {
    if let numeric = SocketAddress(host, port: port) { return completion(.success([numeric])) }
    guard let port = UInt16(exactly: port) else {
      return completion(.failure(ResolverFailure(message: "port \(port) is not between 0 and 65535")))
    }
    run { completion(Self.lookUp(host, port: port)) }
  }

  private func run(_ work: @escaping @Sendable () -> Void) {
    let needsThread = state.withLock { state in
      state.waiting.append(work)
      guard state.threads < Self.maximumThreads else { return false }
      state.threads += 1
      return true
    }
    guard needsThread else { return }
    if !LoopThread.start(name: "martlet-resolve", { [self] in drain() }) {
      // No thread to be had: what waits is looked up here, once, rather than never.
      drain()
    }
  }

  private func drain() {
    while true {
      let work: (@Sendable () -> Void)? = state.withLock { state in
        guard !state.waiting.isEmpty else {
          state.threads -= 1
          return nil
        }
        return state.waiting.removeFirst()
      }
      guard let work else { return }
      work()
    }
  }

  private static func lookUp(_ host: String, port: UInt16) -> Answer {
    var found = Array(repeating: martlet_address(), count: maximumAddresses)
    let capacity = Int32(maximumAddresses)
    // The shim writes at most `capacity` entries.
    let count = unsafe found.withUnsafeMutableBufferPointer { buffer in
      unsafe martlet_resolve(host, port, 0, buffer.baseAddress, capacity)
    }
    guard count > 0 else {
      let reason: String
      if let text = unsafe martlet_resolve_error_text(count) {
        reason = unsafe String(cString: text)
      } else {
        reason = "no address"
      }
      return .failure(ResolverFailure(message: "cannot resolve \(host): \(reason)"))
    }
    return .success(found.prefix(Int(count)).map(SocketAddress.init))
  }
}
