import Foundation
import Glibc
import MartletJSON
import MartletRuntime

/// A receiver of webhooks: takes requests one connection at a time and answers as the test says.
final class Receiver: Sendable {
  struct Request: Sendable {
    var line: String
    var fields: [String: String]
    var body: [UInt8]

    var json: JSONValue { (try? JSONValue(parsing: body)) ?? .null }
    var id: String { fields["webhook-id"] ?? "" }
  }

  /// How a request is answered.
  enum Answer: Sendable {
    case status(Int, [String: String] = [:], body: String = "")
    /// These bytes in place of HTTP.
    case bytes(String)
    /// Nothing, until the client ends the connection.
    case silence
  }

  private struct State {
    var answer: @Sendable (Request) -> Answer
    var requests: [Request] = []
    var waiting: [(count: Int, continuation: CheckedContinuation<[Request], Never>)] = []
    var active = 0
    var mostActive = 0
  }

  private let state: Lock<State>
  private let listener: Int32
  let port: Int

  init(_ answer: @escaping @Sendable (Request) -> Answer = { _ in .status(200) }) throws {
    state = Lock(State(answer: answer))
    (listener, port) = try Self.listen()
    let listener = listener
    Thread.detachNewThread { [weak self] in
      while true {
        let connection = accept(listener, nil, nil)
        guard connection >= 0 else { return }
        guard let self else {
          close(connection)
          return
        }
        Thread.detachNewThread { self.serve(connection) }
      }
    }
  }

  deinit {
    shutdown(listener, Int32(SHUT_RDWR))
    close(listener)
  }

  private static func listen() throws -> (Int32, Int) {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let port = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer -> Int in
        guard bind(listener, pointer, length) == 0, Glibc.listen(listener, 64) == 0,
          getsockname(listener, pointer, &length) == 0
        else { return 0 }
        return pointer.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
          Int(UInt16(bigEndian: $0.pointee.sin_port))
        }
      }
    }
    guard port > 0 else { throw CocoaError(.fileReadUnknown) }
    return (listener, port)
  }

  var url: String { "http://127.0.0.1:\(port)/hook" }

  /// All requests so far.
  var requests: [Request] { state.withLock { $0.requests } }
  /// The most requests that were open at a time.
  var mostActive: Int { state.withLock { $0.mostActive } }

  func answer(_ answer: @escaping @Sendable (Request) -> Answer) { state.withLock { $0.answer = answer } }

  /// The first `count` requests, once there are so many.
  func requests(_ count: Int) async -> [Request] {
    await withCheckedContinuation { continuation in
      let ready: [Request]? = state.withLock { state in
        if state.requests.count >= count { return Array(state.requests.prefix(count)) }
        state.waiting.append((count, continuation))
        return nil
      }
      if let ready { continuation.resume(returning: ready) }
    }
  }

  private func serve(_ connection: Int32) {
    defer { close(connection) }
    var buffer: [UInt8] = []
    while let request = Self.read(connection, &buffer) {
      let answer = state.withLock { state in
        state.active += 1
        state.mostActive = max(state.mostActive, state.active)
        return state.answer
      }(request)
      let ready = state.withLock { state in
        state.requests.append(request)
        let ready = state.waiting.filter { $0.count <= state.requests.count }
        state.waiting.removeAll { $0.count <= state.requests.count }
        return ready.map { ($0.continuation, Array(state.requests.prefix($0.count))) }
      }
      for (continuation, requests) in ready { continuation.resume(returning: requests) }
      defer { state.withLock { $0.active -= 1 } }
      switch answer {
      case .status(let status, let fields, let body):
        var text = "HTTP/1.1 \(status) X\r\nContent-Length: \(body.utf8.count)\r\n"
        for (name, value) in fields { text += "\(name): \(value)\r\n" }
        Self.write(connection, text + "\r\n" + body)
      case .bytes(let bytes):
        Self.write(connection, bytes)
        return
      case .silence:
        var byte: UInt8 = 0
        while recv(connection, &byte, 1, 0) > 0 {}
        return
      }
    }
  }

  static func write(_ connection: Int32, _ text: String) {
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let count = bytes.withUnsafeBytes { send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      guard count > 0 else { return }
      bytes = bytes.dropFirst(count)
    }
  }

  private static func read(_ connection: Int32, _ buffer: inout [UInt8]) -> Request? {
    var head: Range<Int>?
    while true {
      if head == nil, let end = buffer.indices.first(where: { buffer[$0...].starts(with: "\r\n\r\n".utf8) }) {
        head = 0..<end
      }
      if let head {
        let lines = String(decoding: buffer[head], as: UTF8.self).components(separatedBy: "\r\n")
        var fields: [String: String] = [:]
        for line in lines.dropFirst() {
          let parts = line.split(separator: ":", maxSplits: 1)
          guard parts.count == 2 else { continue }
          fields[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces)
        }
        let start = head.upperBound + 4
        let length = Int(fields["content-length"] ?? "0") ?? 0
        if buffer.count >= start + length {
          let body = Array(buffer[start..<(start + length)])
          buffer.removeFirst(start + length)
          return Request(line: lines.first ?? "", fields: fields, body: body)
        }
      }
      var piece = [UInt8](repeating: 0, count: 65_536)
      let count = recv(connection, &piece, piece.count, 0)
      guard count > 0 else { return nil }
      buffer += piece[..<count]
    }
  }
}

/// Requests to the server under test, one connection each.
enum Call {
  struct Answer: Sendable {
    var status: Int
    var json: JSONValue
  }

  static func send(
    _ method: String, _ path: String, _ body: String? = nil, port: Int, key: String? = nil
  ) async -> Answer {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread { continuation.resume(returning: exchange(method, path, body, port, key)) }
    }
  }

  private static func exchange(_ method: String, _ path: String, _ body: String?, _ port: Int, _ key: String?) -> Answer
  {
    let connection = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(connection) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    let connected = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(connection, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard connected == 0 else { return Answer(status: 0, json: .null) }
    var text = "\(method) \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nConnection: close\r\n"
    if let key { text += "x-api-key: \(key)\r\n" }
    if let body { text += "Content-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n" }
    Receiver.write(connection, text + "\r\n" + (body ?? ""))
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = recv(connection, &piece, piece.count, 0)
      guard count > 0 else { break }
      bytes += piece[..<count]
    }
    let whole = String(decoding: bytes, as: UTF8.self)
    let status = whole.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    let content = whole.range(of: "\r\n\r\n").map { String(whole[$0.upperBound...]) } ?? ""
    return Answer(status: status, json: (try? JSONValue(parsing: content)) ?? .null)
  }
}
