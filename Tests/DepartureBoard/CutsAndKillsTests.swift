import Foundation
import Martlet
import MartletVocabulary
import Testing

@testable import DepartureBoard

@Suite struct CutsAndKillsTests {
  static let airport = "JFK"

  /// Twenty cuts and five kills, spread by chance over the bytes of the replay.
  static func harm(seed: UInt64, bytes: Int) -> [(at: Int, harm: CuttingProxy.Harm)] {
    var random = SeededRandom(seed: seed)
    var planned: [(at: Int, harm: CuttingProxy.Harm)] = []
    for _ in 0..<20 { planned.append((Int.random(in: 2_000..<bytes, using: &random), .cut)) }
    for part in 1...5 { planned.append((bytes * part / 6, .kill)) }
    return planned.sorted { $0.at < $1.at }
  }

  /// A replay of the week with server, replayer and board as processes, through a proxy that cuts connections in the
  /// middle of frames, while the server is killed without warning: the board has seen every step once and in order.
  @Test(.timeLimit(.minutes(3)))
  func `P2, P3, P17: after 20 cuts and 5 kills the board's history is the one the data file gives`() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("board-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    let files = DataFiles(folder: ExampleProcess.root.appendingPathComponent("Examples/DepartureBoard").path)
    let expected = try files.steps(only: Self.airport).map { FlightDocuments.event(of: $0) }

    let first = try ExampleProcess(
      ["serve", "--port", "0", "--data", path("data")], log: folder.appendingPathComponent("first.log"))
    let port = try #require(await first.port(within: 60), "the server did not start: \(first.output)")
    first.kill()
    let server = try ExampleProcess(
      ["serve", "--port", "\(port)", "--data", path("data")], log: folder.appendingPathComponent("server.log"))
    defer { server.kill() }
    // About 500 bytes of each step pass the proxy; all harm is done well before the last.
    let proxy = try CuttingProxy(target: port, planned: Self.harm(seed: 20_130_101, bytes: expected.count * 350)) {
      do { try server.killAndRestart() } catch { Issue.record(error) }
    }
    defer { proxy.stop() }

    let url = "ws://127.0.0.1:\(proxy.port)/graphql"
    let board = try ExampleProcess(
      [
        "board", "--url", url, "--airport", Self.airport, "--history", path("history.jsonl"), "--events",
        "\(expected.count)",
      ], log: folder.appendingPathComponent("board.log"))
    defer { board.kill() }
    try #require(await board.says("ready", within: 60), "the board did not start: \(board.output)")
    let replayer = try ExampleProcess(
      ["replay", "--url", url, "--only", Self.airport, "--speed", "unlimited"],
      log: folder.appendingPathComponent("replay.log"))
    defer { replayer.kill() }

    #expect(await replayer.ended(within: 120), "the replay did not end: \(replayer.output.suffix(500))")
    #expect(await board.ended(within: 30), "the board did not end: \(board.output.suffix(500))")
    #expect(proxy.done.filter { $0 == .cut }.count == 20, "\(proxy.forwarded) bytes")
    #expect(proxy.done.filter { $0 == .kill }.count == 5)

    let lines = try String(contentsOfFile: path("history.jsonl"), encoding: .utf8).split(separator: "\n")
    let seen = try lines.map { line -> JSONObject in
      let event = try #require(try JSONValue(parsing: String(line)).object)
      return JSONObject(event.filter { $0.key != "cursor" })
    }
    #expect(seen.count == expected.count)
    let difference = zip(seen, expected).enumerated().first { $0.element.0 != $0.element.1 }
    #expect(difference == nil, "first difference at \(difference.map { "\($0.offset): \($0.element)" } ?? "")")
  }
}
