/// Rules for schemas beyond those that are needed to understand one. `MartletGraphQLLanguage` has them.
package struct SchemaChecks: Sendable {
  /// Rules over the document and the definitions that every schema has.
  let ofDocument: @Sendable (_ document: Document, _ builtIn: Document, inout TypeSystemReport) -> Void
  /// Rules that need resolved types.
  let ofSchema: @Sendable (Schema, inout TypeSystemReport) -> Void

  package init(
    ofDocument: @escaping @Sendable (_ document: Document, _ builtIn: Document, inout TypeSystemReport) -> Void,
    ofSchema: @escaping @Sendable (Schema, inout TypeSystemReport) -> Void
  ) {
    self.ofDocument = ofDocument
    self.ofSchema = ofSchema
  }
}
