import Foundation
import Synchronization

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The platform's function of this name, which the methods here would hide.
private func sendSignal(_ process: Int32, _ signal: Int32) { _ = kill(process, signal) }

/// `martlet serve` as a process of its own: the tour's schema, a free port, data in memory.
final class ServeProcess: Sendable {
  private static let running = Mutex<[ObjectIdentifier: Process]>([:])

  /// Where clients find it.
  let url: URL
  /// What opens it; nil when it is open.
  let key: String?
  private let process: Process
  private let output: Transcript

  /// One that is open to this machine.
  /// The tree's nodes are small, so that one of them can become too large.
  static func open() async throws -> ServeProcess {
    let rules = Command.folder.appendingPathComponent("rules.json").path
    return try await start(
      ["--dev", "--memory", "--port", "0", "--rules", rules, "--limit", "tree.nodeLeaves=100"], key: nil)
  }

  /// The same with data in a folder, so that another one can continue where it ends.
  static func open(data folder: URL, port: Int = 0) async throws -> ServeProcess {
    try await start(["--dev", "--data", folder.path, "--port", "\(port)"], key: nil)
  }

  /// One that is closed but for the holder of a key, which is made by `martlet access new`.
  static func guarded() async throws -> ServeProcess {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("seed-tour-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appendingPathComponent("access.json").path
    let said = try await Command.run(["access", "new", "a visitor of the tour", "--file", file])
    guard let key = said.split(whereSeparator: \.isWhitespace).first(where: { $0.hasPrefix("martlet_") }) else {
      throw TourFailure("martlet access said no key: \(said)")
    }
    return try await start(["--access", file, "--memory", "--port", "0"], key: String(key))
  }

  private static func start(_ words: [String], key: String?) async throws -> ServeProcess {
    let process = Process()
    process.executableURL = try Command.url()
    let schema = Command.folder.appendingPathComponent("schema.graphql").path
    process.arguments = ["serve", schema, "--log-level", "error"] + words
    process.standardInput = FileHandle.nullDevice
    let (pipe, output) = (Pipe(), Transcript())
    process.standardOutput = pipe
    try process.run()
    running.withLock { $0[ObjectIdentifier(process)] = process }
    // A thread that may wait; its end is the end of the process.
    let reading = pipe.fileHandleForReading
    Thread.detachNewThread {
      while true {
        let data = reading.availableData
        if data.isEmpty { break }
        for line in String(decoding: data, as: UTF8.self).split(separator: "\n") { output.tell(String(line)) }
      }
      output.close()
    }
    try await output.wait { !$0.isEmpty }
    // "Serving … on http://127.0.0.1:40123/graphql"
    guard let port = output.lines[0].split(whereSeparator: { ":/".contains($0) }).compactMap({ UInt16($0) }).last,
      let url = URL(string: "ws://127.0.0.1:\(port)/graphql")
    else { throw TourFailure("martlet serve said no port: \(output.lines)") }
    return ServeProcess(url, key, process, output)
  }

  private init(_ url: URL, _ key: String?, _ process: Process, _ output: Transcript) {
    self.url = url
    self.key = key
    self.process = process
    self.output = output
  }

  deinit { Self.end(process) }

  /// The same address by another scheme: `http`.
  func url(scheme: String) -> URL {
    var parts = URLComponents(url: url, resolvingAgainstBaseURL: false)
    parts?.scheme = scheme
    return parts?.url ?? url
  }

  /// Stops it and returns when it has gone.
  func stop() async {
    Self.end(process)
    // The end of its output is the end of the process.
    try? await output.wait { _ in false }
  }

  /// Kills it: it has no time to notify its clients. Returns when it has gone.
  func kill() async {
    Self.end(process, SIGKILL)
    try? await output.wait { _ in false }
  }

  /// Stops all that run, without waiting.
  static func endAll() {
    for process in running.withLock({ $0.values.map { $0 } }) { end(process) }
  }

  private static func end(_ process: Process, _ signal: Int32 = SIGTERM) {
    guard running.withLock({ $0.removeValue(forKey: ObjectIdentifier(process)) }) != nil else { return }
    if process.isRunning { sendSignal(process.processIdentifier, signal) }
  }

  // MARK: What it says of itself

  /// A number of its page `/metrics`.
  func metric(_ name: String) async throws -> Int {
    var request = URLRequest(url: url(scheme: "http").deletingLastPathComponent().appendingPathComponent("metrics"))
    if let key { request.setValue(key, forHTTPHeaderField: "x-api-key") }
    // A connection that is kept would hold up the server's end.
    request.setValue("close", forHTTPHeaderField: "Connection")
    let (data, _) = try await URLSession.shared.data(for: request)
    let lines = String(decoding: data, as: UTF8.self).split(separator: "\n")
    guard let line = lines.first(where: { $0.hasPrefix("martlet_\(name) ") }),
      let value = line.split(separator: " ").last.flatMap({ Int($0) })
    else { throw TourFailure("the server counts no \(name): \(lines)") }
    return value
  }

  /// Returns when it counts so many.
  func has(_ count: Int, _ name: String = "subscriptions") async throws {
    while try await metric(name) != count { try Task.checkCancellation() }
  }
}
