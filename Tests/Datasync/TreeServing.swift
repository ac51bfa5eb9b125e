import Foundation
import MartletDatasync
import MartletServer

/// A server with a tree that anyone may read and write below `open`, for one test.
enum TreeServing {
  static let rules = """
    {"rules": {
      "open": {".read": true, ".write": true, "number": {".validate": "newData.isNumber()"}},
      "private": {".read": "auth.uid == 'ada'", ".write": "auth.uid == 'ada'"}
    }}
    """

  static func with(
    rules: String = rules, _ adjust: (inout ServerConfiguration) throws -> Void = { _ in },
    _ body: (GraphQLServer) async throws -> Void
  ) async throws {
    var configuration = ServerConfiguration(schema: "type Note @model { id: ID! }")
    configuration.access = .development
    configuration.log = .silent
    configuration.loops = 1
    configuration.treeRules = rules
    try adjust(&configuration)
    let server = try GraphQLServer(configuration)
    try server.start()
    do {
      try await body(server)
    } catch {
      await server.stop()
      throw error
    }
    await server.stop()
  }

  /// A client of the server.
  static func application(
    _ server: GraphQLServer, _ adjust: (inout DatasyncConfiguration) -> Void = { _ in }
  ) -> MartletApplication {
    var configuration = DatasyncConfiguration(url: "ws://127.0.0.1:\(server.port)")
    configuration.connection.reconnect.firstDelay = .milliseconds(20)
    adjust(&configuration)
    return MartletApplication(configuration: configuration)
  }
}

/// Takes what callbacks report, in order, and lets a test wait for a number of lines.
final class Transcript: @unchecked Sendable {
  // Every access is under the lock.
  private let lock = NSLock()
  private var lines: [String] = []
  private var waiters: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []

  func add(_ line: String) {
    lock.withLock {
      lines.append(line)
      let due = waiters.filter { $0.count <= lines.count }
      waiters.removeAll { $0.count <= lines.count }
      for waiter in due { waiter.continuation.resume() }
    }
  }

  var all: [String] { lock.withLock { lines } }

  /// The lines, once there are so many.
  func wait(_ count: Int) async -> [String] {
    await withCheckedContinuation { continuation in
      lock.withLock {
        if lines.count >= count { continuation.resume() } else { waiters.append((count, continuation)) }
      }
    }
    return all
  }
}

extension DatasyncEvent {
  /// The event in one line.
  var line: String {
    let name: String =
      switch eventType {
      case .valueChange: "value"
      case .valueAcknowledgement: "value acknowledged"
      case .childAddition: "added"
      case .childChange: "changed"
      case .childRemoval: "removed"
      case .childAcknowledgement: "acknowledged"
      case .childRejection, .valueRejection: "rejected \(rejection?.reason ?? "")"
      default: "\(eventType)"
      }
    let after = previousChildKey.map { " after \($0)" } ?? ""
    return "\(name) \(key) \(value)\(after)\(isAcknowledged ? "" : " pending")"
  }
}
