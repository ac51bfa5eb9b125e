/// The schema has a root type for the operation.
enum KnownOperationTypes {
  static func check(_ operation: OperationDefinition, _ validation: Validation) {
    guard validation.schema.rootType(operation.kind) == nil else { return }
    validation.report(
      .knownOperationTypes, "The \(operation.kind.rawValue) operation is not supported by the schema.",
      operation.location)
  }
}
