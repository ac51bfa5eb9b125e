/// What a schema has besides what the September 2025 edition gives every schema. All off by default.
package struct SchemaOptions: Hashable, Sendable {
  /// The directives `@defer` and `@stream` of the incremental delivery proposal, and the rules that go with them.
  package var incrementalDelivery: Bool

  package init(incrementalDelivery: Bool = false) {
    self.incrementalDelivery = incrementalDelivery
  }
}
