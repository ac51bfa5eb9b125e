package import MartletJSON

/// What the store works on: a document's text, which of its operations, and the variables.
package struct StoreOperation: Sendable, Hashable {
  /// The whole text as its author wrote it, fragments included.
  package var document: String
  /// Which operation of the document; nil when it has only one.
  package var operationName: String?
  /// Values of variables by name.
  package var variables: JSONObject

  package init(document: String, operationName: String? = nil, variables: JSONObject = JSONObject()) {
    self.document = document
    self.operationName = operationName
    self.variables = variables
  }
}

/// What a server answered, as far as the store cares.
package struct StorePayload: Sendable, Hashable {
  /// The data; nil or null when the operation failed as a whole.
  package var data: JSONValue?
  /// The errors as the server sent them. Fields that an error's path names do not overwrite what the store has.
  package var errors: [JSONValue]
  package var extensions: JSONObject

  package init(data: JSONValue?, errors: [JSONValue] = [], extensions: JSONObject = JSONObject()) {
    self.data = data
    self.errors = errors
    self.extensions = extensions
  }
}

/// What a policy or a watcher hands out.
package struct StoreResult: Sendable {
  /// Who answered.
  package enum Source: Sendable, Hashable { case cache, server }

  /// The data in the shape of the document as its author wrote it; nil when the server sent none.
  package var data: JSONValue?
  package var errors: [JSONValue]
  package var extensions: JSONObject
  package var source: Source
  /// Response paths of what is missing from the data, at most `GraphQLStoreLimits.reportedMissingFields`. Empty when
  /// they are complete.
  package var missing: [String]
  /// Set when a request in the background failed; the data are the store's then.
  package var fetchError: (any Error)?
  /// Set when the server's data could not be written to the store.
  package var storeError: GraphQLStoreError?

  package init(
    data: JSONValue?, errors: [JSONValue] = [], extensions: JSONObject = JSONObject(), source: Source,
    missing: [String] = [], fetchError: (any Error)? = nil
  ) {
    self.data = data
    self.errors = errors
    self.extensions = extensions
    self.source = source
    self.missing = missing
    self.fetchError = fetchError
  }

  /// Whether something the document asks for is not in the data.
  package var isPartial: Bool { !missing.isEmpty }
}
