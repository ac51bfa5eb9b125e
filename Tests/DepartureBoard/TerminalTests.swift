import Foundation
import Glibc
import Testing

/// The board in a terminal, as a person starts it. Nothing is served at its address: it draws all the same.
@Suite(.timeLimit(.minutes(1))) struct TerminalTests {
  private static func board(_ terminal: Terminal, _ variables: [String: String] = [:]) throws -> Process {
    var environment = ProcessInfo.processInfo.environment
    for name in ["NO_COLOR", "LINES", "COLUMNS"] { environment[name] = nil }
    environment.merge(variables) { _, new in new }
    return try terminal.start(
      ExampleProcess.executable,
      [
        "board", "--url", "ws://127.0.0.1:1/graphql", "--files",
        ExampleProcess.root.appendingPathComponent("Examples/DepartureBoard").path,
      ], environment: environment)
  }

  private static func plain(_ line: String) -> String { line.replacing(/\u{1B}\[[0-9]*m/, with: "") }

  private static func end(_ process: Process) {
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  @Test func `the board fills the terminal, and follows it when its size changes`() throws {
    let terminal = try Terminal(rows: 20, columns: 100)
    let process = try Self.board(terminal)
    defer { Self.end(process) }
    let wide = try #require(terminal.screen(within: 30) { $0.first?.contains("JFK") == true })
    #expect(wide.count == 20)
    #expect(wide.allSatisfy { Self.plain($0).count <= 100 })
    #expect(wide.contains { Self.plain($0).count > 60 }, "nothing uses the terminal's width")
    terminal.resize(rows: 9, columns: 40)
    // A terminal without a session sends no signal by itself.
    kill(process.processIdentifier, SIGWINCH)
    let narrow = try #require(terminal.screen(within: 30) { $0.count == 9 })
    #expect(narrow.allSatisfy { Self.plain($0).count <= 40 }, "\(narrow)")
  }

  @Test func `the lines for a second terminal are whole in 80 columns`() throws {
    let terminal = try Terminal(rows: 24, columns: 80)
    let process = try Self.board(terminal)
    defer { Self.end(process) }
    let screen = try #require(terminal.screen(within: 30) { $0.first?.contains("JFK") == true }).map(Self.plain)
    #expect(
      screen.suffix(2).map { $0.trimmingCharacters(in: .whitespaces) } == [
        #"martlet subscribe ws://127.0.0.1:1/graphql \"#,
        #"'subscription { departures(origin: "JFK") { id status delay } }'"#,
      ])
  }

  @Test(arguments: [nil, "", "1"] as [String?])
  func `colours are used, unless NO_COLOR has a value`(value: String?) throws {
    let terminal = try Terminal(rows: 20, columns: 100)
    let process = try Self.board(terminal, value.map { ["NO_COLOR": $0] } ?? [:])
    defer { Self.end(process) }
    let screen = try #require(terminal.screen(within: 30) { $0.first?.contains("JFK") == true })
    let hasColors = screen.contains { $0.contains("\u{1B}[1m") || $0.contains("\u{1B}[2m") }
    #expect(hasColors == (value != "1"))
  }

  @Test(arguments: [
    (["run", "--port", "99999"], "--port must be a whole number from 0 to 65535, not '99999'."),
    (["run", "--port", "0", "--files", "none"], "none/Data/flights-week1.csv cannot be read or written."),
    (["serve", "--port", "0", "--access", "none.json"], "none.json cannot be read or written."),
  ])
  func `what cannot be used is named in one line`(words: [String], line: String) async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("board-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let process = try ExampleProcess(
      words + ["--data", folder.appendingPathComponent("data").path], log: folder.appendingPathComponent("log"))
    defer { process.kill() }
    #expect(await process.ended(within: 50))
    let said = process.output.split(separator: "\n")
    #expect(said.count == 1 && said.first?.contains(line) == true, "\(process.output)")
  }

  @Test func `an airport without departures has a word without a terminal, too`() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("board-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let process = try ExampleProcess(
      ["run", "--port", "0", "--airport", "XYZ", "--data", folder.appendingPathComponent("data").path],
      log: folder.appendingPathComponent("log"))
    defer { process.kill() }
    #expect(await process.says("XYZ has no departures in this week's data; ", within: 50), "\(process.output)")
  }

  @Test func `a port in use is named with a way to choose another`() async throws {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(listener) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, length) == 0 && listen(listener, 1) == 0 && getsockname(listener, $0, &length) == 0
      }
    }
    try #require(isBound)
    let port = Int(UInt16(bigEndian: address.sin_port))
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("board-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let process = try ExampleProcess(
      ["run", "--port", "\(port)", "--data", folder.appendingPathComponent("data").path],
      log: folder.appendingPathComponent("log"))
    defer { process.kill() }
    #expect(await process.ended(within: 50))
    #expect(process.output.contains("\(port)"))
    #expect(process.output.contains("make run PORT=\(port + 1)"), "\(process.output)")
  }
}
