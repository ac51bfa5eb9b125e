import MartletTestSupport
import Testing

/// What a peer and this package do together, as the columns of the table name it.
enum Check: String, CaseIterable, Sendable {
  case values, errors, completion, cancellation, reconnect, requests, keys
}

/// A line of the table in docs/COMPATIBILITY.md: one protocol, with one peer at one end.
struct Row: Sendable, Hashable, CustomTestStringConvertible {
  /// Which end is this package.
  enum End: String, Sendable {
    case server, client
  }

  /// As the table calls it.
  let spoken: String
  let end: End
  /// The Python packages at the other end, the first being the GraphQL one.
  let packages: [String]
  /// The file in `Interoperation/clients` or `Interoperation/servers`.
  let peer: String
  /// What that file calls the protocol.
  let dialect: String
  /// What there is to check; the others are explained in `without`.
  let checks: [Check]
  /// Why something cannot be checked with this peer.
  var without = ""

  var testDescription: String { "\(end.rawValue): \(spoken) with \(packages.joined(separator: " on "))" }
}

/// What became of a row.
struct Outcome: Sendable {
  var passed: Set<Check> = []
  var failures: [String] = []

  /// Notes whether a check holds, and what came otherwise.
  mutating func note(_ check: Check, _ holds: Bool, _ came: @autoclosure () -> String) {
    if holds { passed.insert(check) } else { failures.append("\(check.rawValue): \(came())") }
  }

  /// Notes a check that needs several things to hold.
  mutating func note(_ check: Check, _ body: () async throws -> Void) async {
    do {
      try await body()
      passed.insert(check)
    } catch {
      failures.append("\(check.rawValue): \(error)")
    }
  }
}

/// Throws what came when a condition does not hold.
func expect(_ holds: Bool, _ came: @autoclosure () -> String) throws {
  guard holds else { throw Peers.Failed(description: came()) }
}
