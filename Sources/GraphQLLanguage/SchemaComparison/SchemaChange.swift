/// One difference between two versions of a schema, judged by what it means for clients of the old one.
package struct SchemaChange: Hashable, Sendable, CustomStringConvertible {
  /// What a change can do to clients, the worst first.
  package enum Severity: String, Hashable, Sendable, CaseIterable, Comparable {
    /// Requests that were valid are no more, or answers have another form.
    case breaking
    /// Requests stay valid, but clients may meet values or behaviour they do not know.
    case dangerous
    /// Clients cannot notice unless they ask for what is new.
    case safe

    package static func < (left: Severity, right: Severity) -> Bool {
      left.order < right.order
    }

    private var order: Int {
      switch self {
      case .breaking: 0
      case .dangerous: 1
      case .safe: 2
      }
    }
  }

  package var severity: Severity
  /// What changed, as a path: `Flight.delay`, `Query.flights(limit:)`, `@auth`.
  package var path: String
  /// How it changed, as a sentence without its full stop.
  package var message: String

  package init(_ severity: Severity, _ path: String, _ message: String) {
    self.severity = severity
    self.path = path
    self.message = message
  }

  package var description: String {
    "\(severity.rawValue): \(message)"
  }
}
