/// Bounds of one filter, condition or key condition.
package struct FilterLimits: Sendable, Hashable {
  /// Values of one `in`, `notIn` or `containsAny`.
  package var listItems = 100
  /// Comparisons in one filter: each costs an evaluation per event.
  package var comparisons = 200
  /// How deep `and`, `or` and `not` may be nested, and a path with dots may lead.
  package var depth = 12

  package init() {}
}
