package import MartletGraphQLLanguage
package import MartletModels

/// Makes Swift of a schema and operations: text in, files out.
///
/// The same input gives the same bytes, whatever the order of the files.
package enum Generator {
  /// What was generated, and how much.
  package struct Output: Hashable, Sendable {
    package var files: [GeneratedFile]
    /// Fields in the selections of operations and fragments, as written.
    package var selectedFields: Int
    /// What is not wrong and may be meant otherwise, such as a fragment that no operation uses.
    package var warnings: [GenerationError] = []
  }

  /// Validates the operations and writes a struct for each, for their fragments, and the types they use.
  ///
  /// - Parameter models: models of the schema, each of which becomes a struct for stores on the device.
  /// - Throws: all mistakes found, with file, line and column.
  package static func generate(
    schema: Schema, operations: [SourceFile], configuration: GeneratorConfiguration = GeneratorConfiguration(),
    limits: GeneratorLimits = GeneratorLimits(), models: [ModelDefinition] = []
  ) throws(GenerationErrors) -> Output {
    let sources = try JoinedSources(operations.sorted { $0.name < $1.name }, limits: limits.parser)
    let warnings = try validate(sources, schema, limits)
    var generation = try Generation(
      schema: schema, sources: sources, configuration: configuration, limits: limits, models: models)
    var output = try generation.run()
    output.warnings = warnings
    return output
  }

  /// - Returns: the warnings.
  private static func validate(
    _ sources: JoinedSources, _ schema: Schema, _ limits: GeneratorLimits
  ) throws(GenerationErrors) -> [GenerationError] {
    var errors: [GenerationError] = []
    for operation in sources.document.operations where operation.name == nil {
      errors.append(
        sources.error(
          .anonymousOperation, "The operation has no name, and its Swift type needs one.",
          at: operation.location.source))
    }
    // A fragment is a type of its own, and so need not be used by an operation.
    let found = Validator.validate(
      sources.document, against: schema, limits: limits.validation,
      settingAside: [.noUnusedFragments, .loneAnonymousOperation])
    errors += found.errors.map { sources.error(.validation, $0.message, at: $0.locations) }
    guard errors.isEmpty else { throw GenerationErrors(inOrder(errors)) }
    return inOrder(
      found.aside.filter { $0.rule == ValidationRule.noUnusedFragments.rawValue }
        .map { sources.error(.validation, $0.message, at: $0.locations) })
  }

  private static func inOrder(_ errors: [GenerationError]) -> [GenerationError] {
    errors.sorted {
      ($0.file ?? "", $0.location?.offset ?? 0, $0.message) < ($1.file ?? "", $1.location?.offset ?? 0, $1.message)
    }
  }
}
