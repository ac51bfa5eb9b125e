import Foundation
import MartletTestSupport
import Testing

/// Clients and servers of others, in every protocol they speak. What they pass stands in
/// docs/COMPATIBILITY.md, which a run writes anew with
/// `MARTLET_WRITE_COMPATIBILITY=1 swift test --disable-xctest --filter InteroperationTests`.
@Suite(.enabled(if: Peers.areInstalled, Comment(rawValue: Peers.missing)), .timeLimit(.minutes(10)))
struct InteroperationTests {
  @Test(arguments: Row.all)
  func `a peer and this package understand each other`(row: Row) async throws {
    let outcome = await Run.shared.outcome(of: row)
    for failure in outcome.failures { Issue.record("\(row.testDescription): \(failure)") }
    #expect(outcome.passed == Set(row.checks))
  }

  @Test(arguments: Feature.all)
  func `a peer and this package exchange what goes beyond one operation`(feature: Feature) async throws {
    let failure = await Run.shared.failure(of: feature)
    #expect(failure == nil, "\(feature.testDescription)")
  }

  @Test func `the table of peers is what this run gave`() async throws {
    let table = try await Table.ofThisRun()
    try table.record.write(to: Programs.root.appendingPathComponent(".build/interoperation/results.json"))
    let file = Programs.root.appendingPathComponent("docs/COMPATIBILITY.md")
    let page = try String(contentsOf: file, encoding: .utf8)
    let expected = try #require(Table.replacing(page, by: table.text))
    if ProcessInfo.processInfo.environment["MARTLET_WRITE_COMPATIBILITY"] != nil {
      try expected.write(to: file, atomically: true, encoding: .utf8)
    }
    #expect(try String(contentsOf: file, encoding: .utf8) == expected)
  }
}
