import Foundation
import MartletCommandLine
import MartletServer
import Testing

@testable import MartletCommand

@Suite struct LimitOptionTests {
  private func configuration(_ words: String...) throws -> ServerConfiguration {
    let schema = FileManager.default.temporaryDirectory.appendingPathComponent("limits-\(UUID().uuidString).graphql")
    try "type Note @model { id: ID! }".write(to: schema, atomically: true, encoding: .utf8)
    defer { try? FileManager.default.removeItem(at: schema) }
    return try ServeCommand.configuration(
      ParsedArguments([schema.path, "--memory", "--dev"] + words, for: ServeCommand.specification))
  }

  @Test func `--limit sets a bound, as often as it is given`() throws {
    let configuration = try configuration(
      "--limit", "http.bodyBytes=4MiB", "--limit=session.operationsPerConnection=7", "--retention", "1h")
    #expect(configuration.limits.http.bodyBytes == 4_194_304)
    #expect(configuration.limits.session.operationsPerConnection == 7)
    #expect(configuration.limits.store.retention == .seconds(3_600))
  }

  @Test func `a limit that does not exist ends the command with what may have been meant`() throws {
    #expect {
      try configuration("--limit", "http.bodyByte=1")
    } throws: { error in
      (error as? UsageError)?.description
        == "--limit: There is no limit 'http.bodyByte'. Did you mean http.bodyBytes?"
    }
  }

  @Test func `--limits reads bounds from a file, and --limit comes after it`() throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("limits-\(UUID().uuidString).json")
    defer { try? FileManager.default.removeItem(at: file) }
    try #"{"http": {"bodyBytes": "4MiB", "connections": 9}, "store": {"retention": "3h"}}"#
      .write(to: file, atomically: true, encoding: .utf8)
    var limits = try configuration("--limit", "http.connections=7", "--limits", file.path).limits
    #expect(limits.http.bodyBytes == 4_194_304 && limits.http.connections == 7)
    #expect(limits.store.retention == .seconds(10_800))
    limits = try configuration("--limits", file.path, "--retention", "1h").limits
    #expect(limits.http.connections == 9 && limits.store.retention == .seconds(3_600))
  }

  @Test func `a file of limits that is wrong ends the command with its place`() throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("limits-\(UUID().uuidString).json")
    defer { try? FileManager.default.removeItem(at: file) }
    try "{\"http\":\n {\"bodyByte\": 1}}".write(to: file, atomically: true, encoding: .utf8)
    #expect {
      try configuration("--limits", file.path)
    } throws: { error in
      let failure = error as? CommandFailure
      return failure?.code == .configuration
        && failure?.message == "\(file.path):2:3: There is no limit 'http.bodyByte'. Did you mean http.bodyBytes?"
    }
  }
}
