/// One piece of work of a trace, when it is over.
package struct TraceSpan: Sendable, Equatable {
  /// Whose work it is, as OpenTelemetry numbers it.
  package enum Kind: Int, Sendable {
    case `internal` = 1
    /// A request that the server answered.
    case server = 2
    /// Events written to subscribers, which await no answer.
    case producer = 4
  }

  package enum Value: Sendable, Equatable {
    case text(String)
    case number(Int64)
  }

  package var name: String
  package var kind: Kind
  package var context: TraceContext
  /// The work that this is a part of; nil for the first of a trace.
  package var parent: UInt64?
  /// Nanoseconds since 1970.
  package var start: Int64
  package var end: Int64
  package var attributes: [(key: String, value: Value)]
  /// What went wrong; nil when nothing did.
  package var failure: String?

  package init(
    _ name: String, _ kind: Kind, _ context: TraceContext, parent: UInt64?, start: Int64, end: Int64,
    attributes: [(key: String, value: Value)] = [], failure: String? = nil
  ) {
    self.name = name
    self.kind = kind
    self.context = context
    self.parent = parent
    self.start = start
    self.end = end
    self.attributes = attributes
    self.failure = failure
  }

  package static func == (one: TraceSpan, other: TraceSpan) -> Bool {
    one.name == other.name && one.kind == other.kind && one.context == other.context && one.parent == other.parent
      && one.start == other.start && one.end == other.end && one.failure == other.failure
      && one.attributes.elementsEqual(other.attributes) { $0.key == $1.key && $0.value == $1.value }
  }
}
