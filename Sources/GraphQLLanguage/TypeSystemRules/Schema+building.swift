extension Schema {
  /// Resolves a type system document.
  ///
  /// Operations and fragments in the document are ignored.
  /// - Throws: every way in which the document is not a valid type system, by the rules for definitions first and, if
  ///   those hold, by the type system's own.
  package static func build(
    from document: Document, options: SchemaOptions = SchemaOptions()
  ) throws(SchemaErrors) -> Schema {
    try resolve(document, options: options, checks: options.isForeign ? nil : .all)
  }

  /// Resolves a type system text. A text that is not a document throws its syntax error as the only error.
  package static func build(
    _ source: String, name: String? = nil, limits: ParserLimits = .schema, options: SchemaOptions = SchemaOptions()
  ) throws(SchemaErrors) -> Schema {
    let document: Document
    do {
      document = try Parser.parse(source, name: name, limits: limits)
    } catch {
      throw SchemaErrors([error.graphQLError])
    }
    return try build(from: document, options: options)
  }
}

extension SchemaChecks {
  /// Every rule for type systems.
  fileprivate static let all = SchemaChecks(
    ofDocument: { document, builtIn, report in AppliedDirectives.check(document, builtIn: builtIn, &report) },
    ofSchema: { schema, report in
      RootTypes.check(schema, &report)
      ReservedNames.check(schema, &report)
      Members.check(schema, &report)
      Interfaces.check(schema, &report)
      InputCycles.check(schema, &report)
      DefaultValues.check(schema, &report)
      DefaultCycles.check(schema, &report)
      DirectiveCycles.check(schema, &report)
    })
}
