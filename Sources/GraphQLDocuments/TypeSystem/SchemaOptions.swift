/// What a schema has besides what the September 2025 edition gives every schema. All off by default.
package struct SchemaOptions: Hashable, Sendable {
  /// The directives `@defer` and `@stream` of the incremental delivery proposal, and the rules that go with them.
  package var incrementalDelivery: Bool
  /// Whether the schema is someone else's to keep valid, such as a server's that a client reads. Only what is needed to
  /// understand it is checked then: that names are there and stand for one thing. Directives need not be defined, nor
  /// the scalars of AppSync; defaults need not fit, as they do not in the introspection of some servers.
  package var isForeign: Bool

  package init(incrementalDelivery: Bool = false, isForeign: Bool = false) {
    self.incrementalDelivery = incrementalDelivery
    self.isForeign = isForeign
  }
}
