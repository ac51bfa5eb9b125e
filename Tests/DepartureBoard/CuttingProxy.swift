import Foundation
import MartletRuntime

/// A TCP proxy that counts the bytes it forwards, in both directions together, and does harm at given counts: it cuts
/// the connection that carries that byte, in the middle of whatever is on it, or calls for something else to happen.
final class CuttingProxy: Sendable {
  enum Harm: Sendable, Equatable {
    case cut
    case kill
  }

  private struct State {
    var forwarded = 0
    var planned: [(at: Int, harm: Harm)]
    var done: [Harm] = []
  }

  let port: UInt16
  private let target: UInt16
  private let listener: Int32
  private let state: Lock<State>
  private let onKill: @Sendable () -> Void

  /// `planned` in ascending order of bytes.
  init(target: UInt16, planned: [(at: Int, harm: Harm)], onKill: @escaping @Sendable () -> Void) throws {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = Self.loopback(port: 0)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let bound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, length) == 0 && listen(descriptor, 64) == 0 && getsockname(descriptor, $0, &length) == 0
      }
    }
    guard bound else { throw POSIXError(.EADDRNOTAVAIL) }
    listener = descriptor
    port = UInt16(bigEndian: address.sin_port)
    self.target = target
    self.onKill = onKill
    state = Lock(State(planned: planned))
    Thread.detachNewThread { [self] in accept() }
  }

  /// What has been done so far.
  var done: [Harm] { state.withLock { $0.done } }
  var forwarded: Int { state.withLock { $0.forwarded } }

  func stop() {
    shutdown(listener, Int32(SHUT_RDWR))
  }

  private func accept() {
    while true {
      let client = Glibc.accept(listener, nil, nil)
      if client < 0 { break }
      let server = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      var address = Self.loopback(port: target)
      let isConnected = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          connect(server, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
      }
      guard isConnected else {
        close(client)
        close(server)
        continue
      }
      let pair = Pair(client, server)
      Thread.detachNewThread { [self] in pump(from: client, to: server, pair) }
      Thread.detachNewThread { [self] in pump(from: server, to: client, pair) }
    }
    close(listener)
  }

  private func pump(from source: Int32, to target: Int32, _ pair: Pair) {
    var buffer = [UInt8](repeating: 0, count: 16_384)
    while true {
      let count = recv(source, &buffer, buffer.count, 0)
      if count <= 0 { break }
      let (allowed, harm) = account(count)
      var sent = 0
      while sent < allowed {
        let n = buffer.withUnsafeBytes { bytes in
          send(target, bytes.baseAddress.map { $0 + sent }, allowed - sent, Int32(MSG_NOSIGNAL))
        }
        if n <= 0 { break }
        sent += n
      }
      if harm == .kill { onKill() }
      if sent < count { break }
    }
    pair.end()
  }

  /// How many of `count` bytes go through, and what happens after them.
  private func account(_ count: Int) -> (allowed: Int, Harm?) {
    state.withLock { state in
      guard let next = state.planned.first, state.forwarded + count >= next.at else {
        state.forwarded += count
        return (count, nil)
      }
      state.planned.removeFirst()
      state.done.append(next.harm)
      let allowed = next.harm == .cut ? max(0, next.at - state.forwarded - 1) : count
      state.forwarded += allowed
      return (allowed, next.harm)
    }
  }

  private static func loopback(port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return address
  }

  /// Both sockets of a connection; the second pump to end closes them.
  private final class Pair: Sendable {
    private let client: Int32
    private let server: Int32
    private let ended = Lock(0)

    init(_ client: Int32, _ server: Int32) {
      self.client = client
      self.server = server
    }

    func end() {
      let count = ended.withLock { count in
        count += 1
        return count
      }
      shutdown(client, Int32(SHUT_RDWR))
      shutdown(server, Int32(SHUT_RDWR))
      guard count == 2 else { return }
      close(client)
      close(server)
    }
  }
}
