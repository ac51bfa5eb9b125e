package import MartletGraphQLExecution
internal import MartletGraphQLLanguage
package import MartletGraphQLWire
internal import MartletJSON

// The bounds of GraphQL's modules, from the server's.

extension BatchLimits {
  package init(_ limits: ServerLimits) {
    self.init()
    operations = limits.http.operationsPerRequest
  }
}

extension UploadLimits {
  package init(_ limits: ServerLimits) {
    self.init()
    files = limits.http.uploadedFiles
    fields = limits.http.formFields
    fileBytes = limits.http.uploadBytes
    operationsBytes = limits.http.bodyBytes
  }
}

extension PersistedOperationLimits {
  package init(_ limits: ServerLimits) {
    self.init()
    documents = limits.query.persistedOperations
    bytes = limits.query.persistedBytes
  }
}

extension ExecutionLimits {
  package init(_ limits: ServerLimits) {
    let query = limits.query
    self.init()
    errors = query.responseErrors
    variableErrors = query.variableErrors
    plannedFields = query.plannedFields
    cachedPlans = query.cachedPlans
    cachedDocumentBytes = query.cachedDocumentBytes
    variantsPerPlan = query.variantsPerPlan
    deferredFragments = query.deferredFragments
    openParts = query.openParts
    streamedItemsAhead = query.streamedItemsAhead
    listItems = query.listItems
    parsing = ParserLimits(
      bytes: query.documentBytes, tokens: query.tokens, depth: query.nesting, aliases: query.aliases,
      directives: query.directives, fields: query.fields)
    validation = ValidationLimits(
      errors: query.documentErrors, fieldComparisons: query.fieldComparisons, depth: query.depth,
      introspectionDepth: query.introspectionDepth, complexity: query.complexity,
      largestPage: query.largestPage)
  }
}

extension JSONLimits {
  /// The bounds of the JSON in a request to the GraphQL endpoints: of a body, or of the members of a query.
  static func request(_ limits: ServerLimits) -> JSONLimits {
    .message(bytes: max(limits.http.bodyBytes, limits.http.requestLineBytes), depth: limits.http.bodyDepth)
  }
}
