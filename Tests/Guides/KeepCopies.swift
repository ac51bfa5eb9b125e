import Foundation
import MartletServer

/// Copies a server's data while it serves, keeps the newest copies, and shows that one of them can be served.
struct KeepCopies: Sendable {
  /// The data folder: the one of `ServerConfiguration.data`, or of `martlet serve --data`.
  let data: URL
  let copies: URL
  /// How many copies are kept.
  var kept = 14
  /// The command makes each copy and checks it.
  var martlet = URL(fileURLWithPath: "/usr/bin/martlet")

  struct Failure: Error, CustomStringConvertible {
    let status: Int32
    var description: String { "martlet backup ended with \(status)." }
  }

  /// Makes a copy that is named after its time, and removes those before the newest `kept`.
  func copy(at time: Date) async throws -> URL {
    try FileManager.default.createDirectory(at: copies, withIntermediateDirectories: true)
    let copy = copies.appendingPathComponent(time.formatted(.iso8601.timeSeparator(.omitted)))
    try await backup(to: copy)
    for old in try made().dropLast(kept) { try FileManager.default.removeItem(at: old) }
    return copy
  }

  /// The copies, the oldest first.
  func made() throws -> [URL] {
    try FileManager.default.contentsOfDirectory(atPath: copies.path).filter { $0.hasSuffix("Z") }.sorted()
      .map { copies.appendingPathComponent($0) }
  }

  /// Serves a duplicate of a copy, which itself stays as it was made, and returns records of a model that it has.
  func drill(_ copy: URL, schema: String, model: String) async throws -> RecordPage {
    let duplicate = FileManager.default.temporaryDirectory.appendingPathComponent("drill-\(UUID().uuidString)")
    try FileManager.default.copyItem(at: copy, to: duplicate)
    defer { try? FileManager.default.removeItem(at: duplicate) }
    var configuration = ServerConfiguration(schema: schema)
    configuration.data = .folder(duplicate.path)
    configuration.access = .development
    let server = try GraphQLServer(configuration)
    try server.start()
    do {
      let found = try await server.list(model, ["limit": 10])
      await server.stop()
      return found
    } catch {
      await server.stop()
      throw error
    }
  }

  private func backup(to copy: URL) async throws {
    let process = Process()
    process.executableURL = martlet
    process.arguments = ["backup", data.path, copy.path]
    process.standardOutput = FileHandle.nullDevice
    try await withCheckedThrowingContinuation { (ended: CheckedContinuation<Void, any Error>) in
      process.terminationHandler = { _ in ended.resume() }
      do { try process.run() } catch { ended.resume(throwing: error) }
    }
    guard process.terminationStatus == 0 else { throw Failure(status: process.terminationStatus) }
  }
}
