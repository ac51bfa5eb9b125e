import Foundation
import Martlet
import Testing

@testable import DepartureBoard

/// The example as processes with an access file: the public reads, staff write, and no other caller does.
@Suite struct AccessTests {
  /// Accepts callers without credentials, and tokens that are signed with the secret below.
  private static let file = """
    {
      "guests": true,
      "tokens": [{
        "issuer": "https://own.example", "audience": "board",
        "keys": { "kty": "oct", "alg": "HS256", "k": "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY" }
      }]
    }
    """
  private static let header = "eyJhbGciOiJIUzI1NiJ9"
  /// ada, of the group staff, until 2100.
  private static let staff =
    header
    + ".eyJpc3MiOiJodHRwczovL293bi5leGFtcGxlIiwic3ViIjoiYWRhIiwiYXVkIjoiYm9hcmQiLCJncm91cHMiOlsic3RhZmYiXSwiZXhwIjo0MTAyNDQ0ODAwfQ"
    + ".jaednYdrUPljZM8To_HhQwb5h9ZMa-7OjXYQwXcffPw"
  /// bob, of no group, until 2100.
  private static let visitor =
    header
    + ".eyJpc3MiOiJodHRwczovL293bi5leGFtcGxlIiwic3ViIjoiYm9iIiwiYXVkIjoiYm9hcmQiLCJncm91cHMiOltdLCJleHAiOjQxMDI0NDQ4MDB9"
    + ".Hia9fm203F7RjEwdboBALHBwe0wXEQJWiWFCH1eDTZA"

  @Test(.timeLimit(.minutes(3)))
  func `with an access file the public follows the board, staff write it, and all others are refused`() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("board-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    func path(_ name: String) -> String { folder.appendingPathComponent(name).path }
    func process(_ name: String, _ words: [String]) throws -> ExampleProcess {
      try ExampleProcess(words, log: folder.appendingPathComponent("\(name).log"))
    }
    try Self.file.write(toFile: path("access.json"), atomically: true, encoding: .utf8)
    let files = DataFiles(folder: ExampleProcess.root.appendingPathComponent("Examples/DepartureBoard").path)
    let expected = try files.steps(days: 1, only: "LGA").map { FlightDocuments.event(of: $0) }

    let server = try process(
      "server", ["serve", "--port", "0", "--data", path("data"), "--access", path("access.json")])
    defer { server.kill() }
    let port = try #require(await server.port(within: 60), "the server did not start: \(server.output)")
    let url = "ws://127.0.0.1:\(port)/graphql"
    let board = try process(
      "board",
      [
        "board", "--url", url, "--airport", "LGA", "--history", path("history.jsonl"), "--events", "\(expected.count)",
      ])
    defer { board.kill() }
    try #require(await board.says("ready", within: 60), "the board did not start: \(board.output)")

    let replay = ["replay", "--url", url, "--only", "LGA", "--days", "1", "--speed", "unlimited"]
    let others = try [("guest", []), ("visitor", ["--token", Self.visitor])].map { name, more in
      (name, try process(name, replay + more))
    }
    for (name, refused) in others {
      defer { refused.kill() }
      #expect(await refused.ended(within: 60), "\(name) does not end: \(refused.output)")
      #expect(refused.output.contains("Not Authorized to access createFlight"), "\(name): \(refused.output)")
    }

    let replayer = try process("staff", replay + ["--token", Self.staff])
    defer { replayer.kill() }
    #expect(await replayer.ended(within: 60), "the replay did not end: \(replayer.output)")
    #expect(replayer.output.contains("Replayed \(expected.count) steps."), "\(replayer.output)")
    #expect(await board.ended(within: 60), "the board did not end: \(board.output.suffix(500))")
    // The first event is the first that staff wrote: nothing of the refused writes was stored.
    let seen = try String(contentsOfFile: path("history.jsonl"), encoding: .utf8).split(separator: "\n")
      .compactMap { try JSONValue(parsing: String($0)).object }
      .map { event in JSONObject(event.filter { $0.key != "cursor" }) }
    #expect(seen == expected)
    for log in ["server", "guest", "visitor", "staff", "board"] {
      let text = try String(contentsOfFile: path("\(log).log"), encoding: .utf8)
      #expect(!text.contains(Self.staff) && !text.contains(Self.visitor), "\(log)")
    }
  }
}
