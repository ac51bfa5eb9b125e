import MartletGraphQLLanguage

extension OperationPlan {
  /// The names of the root fields that the document selects, whatever conditions they stand under.
  package var rootFields: Set<String> { operation.selectionSet.fieldNames(fragments) }
}
