import Foundation
import Testing

/// `docs/PROMISES.md` is generated: its tests are those whose names begin with the promise, as in `P2, P3: …` or
/// `P1 to P5, P18: …`. Write it anew with `MARTLET_WRITE_PROMISES=1 swift test --disable-xctest --filter PromiseTests`.
@Suite struct PromiseTests {
  private static let file = "docs/PROMISES.md"

  /// What is promised; nil tests are allowed only where something comes later.
  private static let promises: [(text: String, later: String?)] = [
    ("events of one subscription carry strictly increasing offsets, in commit order", nil),
    ("nothing is missing inside a subscription's life, across drops, restarts and kills", nil),
    ("the application sees each event once", nil),
    ("a hole that cannot be filled is one explicit gap, with its reason and both cursors", nil),
    ("after `ready` every later commit is delivered", nil),
    ("snapshot and deltas equal the query", "live queries"),
    ("a transaction is never seen half applied", nil),
    ("a reload does not drop what stays valid", nil),
    ("a slow consumer is bounded by count and bytes", nil),
    ("nothing is delivered after access is withdrawn", nil),
    ("a local write is visible to local observers at once", "the local store"),
    ("each local write has one fate", "the local store"),
    ("read your writes, monotonic reads and writes, writes follow reads", "the local store"),
    ("once faults stop and queues drain, all replicas equal the server", "the local store"),
    ("a queued write is dropped only with a reported rejection", "the local store"),
    ("a resend after a lost reply applies once", nil),
    ("what the server acknowledged survives kill -9 and a power cut", nil),
    ("the same seed gives the same history", nil),
    ("restoring an older copy gives each client one gap, never silence", nil),
  ]

  /// The promises a test's name begins with; empty for most tests.
  static func promises(of name: String) -> [Int] {
    guard let colon = name.firstIndex(of: ":") else { return [] }
    var found: [Int] = []
    for part in name[..<colon].split(separator: ",") {
      let ends = part.split(separator: " ").filter { $0 != "to" }.map { Int($0.dropFirst()) }
      guard part.drop(while: { $0 == " " }).hasPrefix("P"), let first = ends.first ?? nil, let last = ends.last ?? nil
      else { return [] }
      found += first...max(first, last)
    }
    return found
  }

  private static func page() throws -> String {
    var page = """
      # Promises and their tests

      What Martlet promises, and the tests that fail when it does not hold. Generated from the names of the tests;
      `Tests/House/PromiseTests.swift` checks it.

      | promise | what | tests |
      | --- | --- | --- |

      """
    let names = try Repository.current.testNames()
    for (index, promise) in promises.enumerated() {
      let number = index + 1
      let tests = names.filter { self.promises(of: $0).contains(number) }.map { "`\($0)`" }
      let cell = tests.isEmpty ? "comes with \(promise.later ?? "NOTHING")" : tests.joined(separator: "<br>")
      page += "| P\(number) | \(promise.text) | \(cell) |\n"
    }
    return page
  }

  @Test func `the promise table is the one the tests' names give`() throws {
    let page = try Self.page()
    if ProcessInfo.processInfo.environment["MARTLET_WRITE_PROMISES"] != nil {
      try page.write(to: Repository.current.root.appendingPathComponent(Self.file), atomically: true, encoding: .utf8)
    }
    #expect(try Repository.current.text(Self.file) == page)
  }

  @Test func `every promise that is made has a test`() throws {
    let tested = Set(try Repository.current.testNames().flatMap { Self.promises(of: $0) })
    for (index, promise) in Self.promises.enumerated() where promise.later == nil {
      #expect(tested.contains(index + 1), "P\(index + 1)")
    }
  }

  @Test(arguments: [
    ("P2, P3: a", [2, 3]), ("P1 to P5, P18: b", [1, 2, 3, 4, 5, 18]), ("P4: c: d", [4]), ("Plain: e", []), ("f", []),
  ])
  func `a test's name says which promises it holds`(name: String, expected: [Int]) {
    #expect(Self.promises(of: name) == expected)
  }
}
