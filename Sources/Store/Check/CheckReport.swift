/// What a look at a store at rest found.
package struct CheckReport: Sendable, Equatable {
  /// What the damage is in.
  package enum Part: String, Sendable {
    /// SQLite's own structures.
    case database
    /// The rows of the log: missing ones, and ones out of order.
    case log
    /// One entry of the log, which cannot be read.
    case entry
    /// Rows of the log that are not what was written.
    case checksum
    /// Records and other tables that are not what the log makes.
    case records
  }

  package struct Finding: Sendable, Equatable {
    package var part: Part
    package var message: String
  }

  /// In the order in which the parts were looked at; empty for a sound store.
  package private(set) var findings: [Finding] = []
  /// Findings that are not listed.
  package private(set) var unlisted = 0
  /// First and last offset of the log's rows; nil without one.
  package var offsets: ClosedRange<Int64>?
  /// Records whose newest change is in the log and was compared.
  package var records = 0
  /// Whether the log reaches back to its first entry, and was folded into a second store that was compared whole.
  package var wasFolded = false

  package init() {}

  /// Findings that are listed at most: the first ones show what happened.
  static let listed = 20

  mutating func add(_ part: Part, _ message: String) {
    if findings.count < Self.listed { findings.append(Finding(part: part, message: message)) } else { unlisted += 1 }
  }

  package var isSound: Bool { findings.isEmpty }
}
