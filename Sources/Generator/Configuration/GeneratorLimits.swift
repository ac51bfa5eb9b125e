package import MartletGraphQLLanguage

/// How much the generator is willing to read and write. The files are the user's own, so the bounds only stop mistakes.
package struct GeneratorLimits: Hashable, Sendable {
  /// Bounds for reading operations. By default those of schema files, with as many fields and aliases as tokens allow.
  package var parser: ParserLimits
  /// Bounds for validating operations. The cost of an operation is a server's concern and not checked.
  package var validation: ValidationLimits
  /// Structs written for results. Default 50,000; type conditions inside each other can multiply.
  package var structs: Int
  /// Lists inside each other in a type that introspection describes, wrappers included. Default 32.
  package var introspectedWrappers: Int

  package init(
    parser: ParserLimits = ParserLimits(
      bytes: 16 << 20, tokens: 2_000_000, depth: 64, aliases: 500_000, directives: 200_000, fields: 500_000),
    validation: ValidationLimits = ValidationLimits(fieldComparisons: 10_000_000, complexity: .max),
    structs: Int = 50_000, introspectedWrappers: Int = 32
  ) {
    self.parser = parser
    self.validation = validation
    self.structs = structs
    self.introspectedWrappers = introspectedWrappers
  }
}
