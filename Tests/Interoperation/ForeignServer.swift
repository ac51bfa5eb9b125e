import Foundation

/// `Interoperation/server.py` with one peer, on a port of its own; it goes with the test.
final class ForeignServer: Sendable {
  let port: Int
  private let process: Process

  init(_ peer: String, port wanted: Int? = nil) async throws {
    let port = try wanted ?? Self.freePort()
    self.port = port
    let process = Peers.process("server.py", [peer, "\(port)"])
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    self.process = process
    let isReady = await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        var said = Data()
        while !said.contains(UInt8(ascii: "\n")) {
          let piece = output.fileHandleForReading.availableData
          if piece.isEmpty { break }
          said += piece
        }
        continuation.resume(returning: said.starts(with: Data("ready".utf8)))
      }
    }
    try expect(isReady, "the foreign server \(peer) did not start")
  }

  deinit { kill() }

  func kill() {
    guard process.isRunning else { return }
    Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  /// A port without a listener.
  private static func freePort() throws -> Int {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
      }
    }
    try expect(isBound, "no port is free")
    return Int(UInt16(bigEndian: address.sin_port))
  }
}
