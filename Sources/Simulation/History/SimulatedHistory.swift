package import MartletVocabulary

/// What happened in a simulation, in order: the thing two runs of one seed are compared by.
///
/// `@unchecked Sendable` holds because only work inside one executor's pump records.
package final class SimulatedHistory: @unchecked Sendable {
  package struct Entry: Hashable, Sendable, CustomStringConvertible {
    package var at: Instant
    package var text: String
    package var description: String { "\(at.nanoseconds) \(text)" }
  }

  package private(set) var entries: [Entry] = []

  package init() {}

  package func record(_ text: String, at now: Instant) {
    entries.append(Entry(at: now, text: text))
  }
}

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension SimulatedExecutor {
  /// Adds a line to the history, at the present virtual time.
  package func record(_ text: String) {
    history.record(text, at: now)
  }
}
