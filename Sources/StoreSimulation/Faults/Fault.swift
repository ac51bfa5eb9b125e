internal import MartletVocabulary

/// One disturbance of a story: what, when, to whom and for how long. A story's faults are drawn before it begins, so
/// that it can be played again without some of them.
package struct Fault: Sendable, Hashable, CustomStringConvertible {
  package enum Kind: String, Sendable, Hashable, CaseIterable {
    /// Messages take longer, each by another time, so that they overtake each other.
    case delay
    /// Requests do not reach the server, and nothing says so until the time is up.
    case requestLoss
    /// Answers do not reach the client.
    case answerLoss
    /// Requests reach the server twice.
    case duplication
    /// Connections break.
    case cut
    /// A client cannot reach the server.
    case partition
    /// The server's messages to a client vanish, and nothing says so.
    case halfOpen
    /// The client's process ends at one of its next accesses to its disk.
    case clientKill
    /// The same, and the disk forgets what was not synced.
    case clientPowerCut
    /// The server's process ends at one of its next accesses to its disk.
    case serverKill
    /// The same, and the disk forgets what was not synced.
    case serverPowerCut
    /// The server ends in order and comes back.
    case serverRestart
    /// A client's calendar clock jumps.
    case clientClock
    /// The server's calendar clock jumps.
    case serverClock
    /// The rules of access change.
    case rules
    /// The clients' tokens are no longer accepted; fresh ones are.
    case token
    /// The server forgets the log up to now, and deletions too.
    case retention
    /// The server ends and runs again on a copy of its data that was made when the fault began.
    case restore
    /// The server refuses for load, and says when to come back.
    case overload
    /// The server gets a schema with one more field; clients get the version of the application that has it when they
    /// start again.
    case schema
    /// The application stops the sync and starts it again.
    case pause
  }

  package var kind: Kind
  package var at: Duration
  /// Which client, where it is about one.
  package var client: Int
  package var length: Duration
  /// A number that the kind gives its meaning: a share in percent, a count of disk accesses, a jump in seconds.
  package var amount: Int

  package var description: String {
    "\(kind.rawValue) at \(at) for \(length), client \(client), amount \(amount)"
  }

  /// The faults of a seed, in order of their times.
  static func draw(_ random: inout SeededRandom, during story: Duration, clients: Int) -> [Fault] {
    func below(_ bound: Int) -> Int { Int(random.next() % UInt64(max(1, bound))) }
    let milliseconds = Int(story.components.seconds) * 1_000
    let count = 2 + below(7)
    return (0..<count).map { _ in
      let kind = Kind.allCases[below(Kind.allCases.count)]
      return Fault(
        kind: kind, at: .milliseconds(below(milliseconds)), client: below(clients),
        length: .milliseconds(200 + below(12_000)), amount: 1 + below(60))
    }.sorted { $0.at < $1.at }
  }
}
