import CMartletSystem
import Foundation
import MartletRuntime
import MartletVocabulary
import Testing

@testable import MartletLoop
@testable import MartletSockets

/// Runs `body` on the loop and answers its result.
func on<Result: Sendable>(_ loop: EpollLoop, _ body: @escaping @Sendable () -> Result) async -> Result {
  await withCheckedContinuation { continuation in
    loop.execute { continuation.resume(returning: body()) }
  }
}

/// A loop for one test, stopped at its end.
func withLoop<Result>(
  limits: LoopLimits = LoopLimits(), calls: any SocketCalls = KernelCalls(),
  _ body: (EpollLoop) async throws -> Result
) async throws -> Result {
  let loop = try EpollLoop.start(name: "test", limits: limits, calls: calls)
  do {
    let result = try await body(loop)
    loop.stop()
    return result
  } catch {
    loop.stop()
    throw error
  }
}

/// What one end of a connection received; waits for it without sleeping.
final class Peer: ByteChannelHandler, Sendable {
  struct Heard {
    var bytes: [UInt8] = []
    var drained = 0
    var closed: [ChannelCloseReason] = []
    var text: String { String(decoding: bytes, as: UTF8.self) }
  }

  private struct State {
    var heard = Heard()
    var waiters: [(@Sendable (Heard) -> Bool, CheckedContinuation<Heard, Never>)] = []
  }

  private let state = Lock(State())
  let finishes: Bool
  private let channels = Lock<LoopBound<any ByteChannel>?>(nil)
  private let reacting: @Sendable (any ByteChannel, [UInt8]) -> Void

  /// `reacting` runs for every arrival; `goesOnAfterPeer` keeps a half-closed stream open.
  init(
    goesOnAfterPeer: Bool = false, reacting: @escaping @Sendable (any ByteChannel, [UInt8]) -> Void = { _, _ in }
  ) {
    finishes = goesOnAfterPeer
    self.reacting = reacting
  }

  static func echo() -> Peer {
    Peer { channel, bytes in channel.write { $0.append(bytes) } }
  }

  /// On the loop.
  func use(_ channel: any ByteChannel) {
    let bound = LoopBound(channel, on: channel.loop)
    channels.withLock { $0 = bound }
  }

  /// The loop of the channel in use, readable from anywhere.
  var owner: (any Loop)? { channels.withLock { $0?.loop } }

  /// On the loop.
  var channel: (any ByteChannel)? { channels.withLock { $0 }?.value }

  func wait(until met: @escaping @Sendable (Heard) -> Bool) async -> Heard {
    await withCheckedContinuation { continuation in
      let now: Heard? = state.withLock { state in
        if met(state.heard) { return state.heard }
        state.waiters.append((met, continuation))
        return nil
      }
      if let now { continuation.resume(returning: now) }
    }
  }

  func bytes(_ count: Int) async -> [UInt8] { await wait { $0.bytes.count >= count }.bytes }
  func close() async -> ChannelCloseReason? { await wait { !$0.closed.isEmpty }.closed.first }
  var heard: Heard { state.withLock { $0.heard } }

  private func change(_ body: (inout Heard) -> Void) {
    let (heard, due) = state.withLock { state in
      body(&state.heard)
      let heard = state.heard
      let due = state.waiters.filter { $0.0(heard) }
      state.waiters.removeAll { $0.0(heard) }
      return (heard, due)
    }
    for (_, continuation) in due { continuation.resume(returning: heard) }
  }

  func received(_ bytes: borrowing RawSpan) {
    let copy = bytes.withUnsafeBytes { Array($0) }
    if let channel { reacting(channel, copy) }
    change { $0.bytes += copy }
  }

  func drained() { change { $0.drained += 1 } }
  func peerFinished() -> Bool {
    if finishes { change { $0.bytes += Array("<fin>".utf8) } }
    return finishes
  }
  func closed(_ reason: ChannelCloseReason) { change { $0.closed.append(reason) } }
}

/// A listener whose accepted ends appear in order.
final class Server: Sendable {
  private struct State {
    var peers: [Peer] = []
    var waiters: [(Int, CheckedContinuation<Peer, Never>)] = []
  }

  private let state = Lock(State())
  let make: @Sendable () -> Peer

  init(_ make: @escaping @Sendable () -> Peer = { Peer() }) {
    self.make = make
  }

  var acceptor: ChannelAcceptor {
    { [self] channel in
      let peer = make()
      peer.use(channel)
      let due: [CheckedContinuation<Peer, Never>] = state.withLock { state in
        state.peers.append(peer)
        let count = state.peers.count
        let due = state.waiters.filter { $0.0 == count - 1 }.map(\.1)
        state.waiters.removeAll { $0.0 == count - 1 }
        return due
      }
      for continuation in due { continuation.resume(returning: peer) }
      return peer
    }
  }

  func peer(_ index: Int) async -> Peer {
    await withCheckedContinuation { continuation in
      let found: Peer? = state.withLock { state in
        if state.peers.indices.contains(index) { return state.peers[index] }
        state.waiters.append((index, continuation))
        return nil
      }
      if let found { continuation.resume(returning: found) }
    }
  }

  var count: Int { state.withLock { $0.peers.count } }
}

/// Names `connect` where another function of that name is nearer.
enum NetworkSupport {
  static func connect(
    _ peer: Peer, to port: Int, host: String, secure: Bool, on loop: EpollLoop, connector: SocketConnector
  ) async throws {
    try await open(peer, to: port, host: host, secure: secure, on: loop, connector: connector)
  }
}

/// Connects `peer` and waits for the result.
func connect(
  _ peer: Peer, to port: Int, host: String = "127.0.0.1", on loop: EpollLoop
) async throws {
  try await open(peer, to: port, host: host, secure: false, on: loop, connector: SocketConnector())
}

private func open(
  _ peer: Peer, to port: Int, host: String, secure: Bool, on loop: EpollLoop, connector: SocketConnector
) async throws {
  try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
    loop.execute {
      _ = connector.connect(to: ConnectionTarget(host: host, port: port, isSecure: secure), on: loop, handler: peer) {
        result in
        switch result {
        case .success(let channel):
          peer.use(channel)
          continuation.resume()
        case .failure(let error): continuation.resume(throwing: error)
        }
      }
    }
  }
}

/// System calls that answer from a script before the kernel is asked.
final class FaultyCalls: SocketCalls, Sendable {
  struct Faults {
    /// Answers of the next sends: a positive number is the most a send may take.
    var sends: [Int] = []
    var receives: [Int] = []
    var accepts: [Int] = []
    /// Applies to every send once `sends` is empty.
    var mostPerSend: Int?
    var closed = 0
    var acceptsAsked = 0
  }

  let faults: Lock<Faults>
  private let kernel = KernelCalls()

  init(_ faults: Faults = Faults()) {
    self.faults = Lock(faults)
  }

  func send(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    let (scripted, most) = faults.withLock { faults in
      (faults.sends.isEmpty ? nil : faults.sends.removeFirst(), faults.mostPerSend)
    }
    if let scripted, scripted <= 0 { return scripted }
    let count = min(bytes.count, scripted ?? most ?? bytes.count)
    return kernel.send(descriptor, UnsafeRawBufferPointer(rebasing: bytes[..<count]))
  }

  func receive(_ descriptor: Int32, into bytes: UnsafeMutableRawBufferPointer) -> Int {
    let scripted = faults.withLock { $0.receives.isEmpty ? nil : $0.receives.removeFirst() }
    if let scripted, scripted <= 0 { return scripted }
    let count = min(bytes.count, scripted ?? bytes.count)
    return kernel.receive(descriptor, into: UnsafeMutableRawBufferPointer(rebasing: bytes[..<count]))
  }

  func accept(_ listener: Int32) -> (descriptor: Int32, peer: SocketAddress?) {
    let scripted = faults.withLock { faults in
      faults.acceptsAsked += 1
      return faults.accepts.isEmpty ? nil : faults.accepts.removeFirst()
    }
    if let scripted, scripted < 0 { return (Int32(scripted), nil) }
    return kernel.accept(listener)
  }

  func close(_ descriptor: Int32) {
    faults.withLock { $0.closed += 1 }
    kernel.close(descriptor)
  }
}
