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
}
