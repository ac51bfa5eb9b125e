import CMartletSystem
import Foundation
import MartletCommandLine

/// `--wait`: holds a command back until the server takes connections.
enum ServerWait {
  static let option = CommandSpecification.Option(
    name: "wait", value: "TIME", help: "wait at most this long for a server that is just starting, such as 10s")

  /// Between two attempts: short beside the time a server takes to start.
  private static let pause = Duration.milliseconds(50)
  /// How long one attempt may take; an address that does not answer must not use up the whole time.
  private static let attempt = Duration.seconds(2)

  /// Returns as soon as the URL's host and port take a connection, which is closed at once, or when the time is over:
  /// what the command does then says why there is none.
  static func wait(for url: String, _ arguments: ParsedArguments) async throws {
    guard let time = try arguments.duration(option.name) else { return }
    guard let parts = URLComponents(string: url), let host = parts.host else { return }
    let isSecure = ["https", "wss"].contains(parts.scheme?.lowercased())
    guard let port = UInt16(exactly: parts.port ?? (isSecure ? 443 : 80)) else { return }
    let name = host.trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
    let end = ContinuousClock.now + time
    while ContinuousClock.now < end {
      if await takesConnections(name, port, until: min(end, ContinuousClock.now + attempt)) { return }
      try await Task.sleep(for: min(pause, end - ContinuousClock.now))
    }
  }

  private static func takesConnections(_ host: String, _ port: UInt16, until end: ContinuousClock.Instant) async -> Bool
  {
    await withCheckedContinuation { continuation in
      // Resolving a name blocks.
      Thread.detachNewThread { continuation.resume(returning: connects(host, port, until: end)) }
    }
  }

  private static func connects(_ host: String, _ port: UInt16, until end: ContinuousClock.Instant) -> Bool {
    var addresses = [martlet_address](repeating: martlet_address(), count: 8)
    let count = unsafe addresses.withUnsafeMutableBufferPointer { buffer in
      unsafe martlet_resolve(host, port, 0, buffer.baseAddress, Int32(buffer.count))
    }
    guard count > 0 else { return false }
    return addresses.prefix(Int(count)).contains { address in
      var address = address
      var isInProgress: Int32 = 0
      let descriptor = unsafe martlet_connect(&address, &isInProgress)
      guard descriptor >= 0 else { return false }
      defer { _ = martlet_close(descriptor) }
      guard isInProgress != 0 else { return true }
      let rest = Int32(max(0, (end - .now) / .milliseconds(1)))
      var state = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
      return unsafe poll(&state, 1, rest) == 1 && martlet_socket_error(descriptor) == 0
    }
  }
}
