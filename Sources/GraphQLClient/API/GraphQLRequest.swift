/// A request for one value of a response: the document, its variables, and where in the response's data the value is.
///
///     .subscription(of: Todo.self, type: .onCreate)
///     .list(Post.self, where: Post.keys.rating > 10.0, limit: 20)
///     GraphQLRequest("query Count { todoCount }", decodePath: "todoCount", responseType: Int.self)
public struct GraphQLRequest<R: Decodable & Sendable>: Sendable {
  /// The whole document.
  public var document: String
  /// Which operation of the document; nil when there is one.
  public var operationName: String?
  /// The variables.
  public var variables: JSONObject
  /// Members of the data that lead to the value, with dots between them; nil for the data itself.
  public var decodePath: String?
  /// Why the request cannot be made; thrown where it is used, so that factories are plain calls.
  var problem: GraphQLClientError?

  /// A request with a document of the caller's own.
  public init(
    _ document: String, variables: JSONObject = JSONObject(), operationName: String? = nil, decodePath: String? = nil,
    responseType: R.Type = R.self
  ) {
    self.document = document
    self.operationName = operationName
    self.variables = variables
    self.decodePath = decodePath
  }

  /// Fills the variables; what fails becomes the request's problem.
  init(_ document: String, field: String, _ variables: () throws -> JSONObject) {
    self.init(document, decodePath: field)
    do {
      self.variables = try variables()
    } catch {
      problem = GraphQLClientError(.invalidRequest, "the request cannot be written: \(error)", underlying: error)
    }
  }
}

/// Which changes of a model a subscription delivers.
public enum GraphQLSubscriptionType: String, Sendable, Hashable, CaseIterable {
  /// New records.
  case onCreate
  /// Changed records.
  case onUpdate
  /// Deleted records, with what they last held.
  case onDelete
}
