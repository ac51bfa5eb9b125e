internal import MartletJSON

extension StoreCore {
  /// A document, parsed at its first use.
  func document(_ text: String) throws(GraphQLStoreError) -> StoredDocument {
    if let schemaError { throw schemaError }
    return try shelf.document(text)
  }

  /// An operation of a document with its variables.
  func bind(_ operation: StoreOperation) throws(GraphQLStoreError) -> BoundOperation {
    let document = try document(operation.document)
    let definition = try document.operation(named: operation.operationName)
    return BoundOperation(definition, document, variables: operation.variables)
  }

  /// A fragment of a document with variables.
  func bindFragment(
    _ text: String, _ name: String?, _ variables: JSONObject
  ) throws(GraphQLStoreError) -> BoundOperation {
    let document = try document(text)
    let fragment = try document.fragment(named: name)
    return BoundOperation(fragment, document, variables: variables)
  }
}
