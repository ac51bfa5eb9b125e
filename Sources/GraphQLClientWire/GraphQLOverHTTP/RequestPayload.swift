package import MartletJSON

/// What a client asks to be executed; the same for HTTP and WebSocket.
package struct RequestPayload: Equatable, Sendable {
  package var query: String
  package var operationName: String?
  package var variables: JSONObject
  package var extensions: JSONObject
  /// The text that an authorization of its own signs, in AppSync's protocol.
  package var signedText: [UInt8]?

  package init(
    query: String, operationName: String? = nil, variables: JSONObject = JSONObject(),
    extensions: JSONObject = JSONObject()
  ) {
    self.query = query
    self.operationName = operationName
    self.variables = variables
    self.extensions = extensions
  }

  /// Reads the members of an object; null counts as absent, unknown members are ignored.
  package init(_ element: JSONTape.Element) throws(GraphQLRequestError) {
    guard element.kind == .object else { throw GraphQLRequestError(.wrongType, "request", "an object") }
    let query = try Self.text(element["query"], "query")
    operationName = try Self.text(element["operationName"], "operationName")
    variables = try Self.object(element["variables"], "variables")
    extensions = try Self.object(element["extensions"], "extensions")
    self.query = try Self.document(query, extensions)
  }

  /// Only a persisted operation may come without its document; it is empty then.
  package static func document(_ query: String?, _ extensions: JSONObject) throws(GraphQLRequestError) -> String {
    if let query { return query }
    if let member = extensions["persistedQuery"], !member.isNull { return "" }
    throw GraphQLRequestError(.missingQuery, "query", "a GraphQL document")
  }

  private static func text(_ element: JSONTape.Element?, _ name: String) throws(GraphQLRequestError) -> String? {
    guard let element, !element.isNull else { return nil }
    guard let text = element.string else { throw GraphQLRequestError(.wrongType, name, "a string") }
    return text
  }

  package static func object(_ element: JSONTape.Element?, _ name: String) throws(GraphQLRequestError) -> JSONObject {
    guard let element, !element.isNull else { return JSONObject() }
    guard let object = element.value.object else { throw GraphQLRequestError(.wrongType, name, "an object") }
    return object
  }

  /// Writes the request as an object; empty members are left out, also the document of one that is named by its hash.
  package func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if !query.isEmpty {
      writer.key("query")
      writer.string(query)
    }
    if let operationName {
      writer.key("operationName")
      writer.string(operationName)
    }
    if !variables.isEmpty {
      writer.key("variables")
      writer.value(.object(variables))
    }
    if !extensions.isEmpty {
      writer.key("extensions")
      writer.value(.object(extensions))
    }
    writer.endObject()
  }

  /// The request as a JSON text.
  package func serialized() -> [UInt8] {
    var writer = JSONWriter()
    write(to: &writer)
    return writer.bytes
  }
}

/// Why something is not a GraphQL request.
package struct GraphQLRequestError: Error, Equatable, Sendable, CustomStringConvertible {
  package enum Rule: Sendable, Hashable {
    /// Not JSON at all.
    case notJSON
    /// No document.
    case missingQuery
    /// A member of another type than it must have.
    case wrongType
    /// A parameter that occurs twice, or whose percent-encoding is broken.
    case malformedParameter
    /// A list without operations.
    case emptyBatch
    /// A list of more operations than one request may carry.
    case batchTooLarge
  }

  package var rule: Rule
  /// The member, as a path.
  package var place: String
  package var expected: String

  package init(_ rule: Rule, _ place: String, _ expected: String) {
    self.rule = rule
    self.place = place
    self.expected = expected
  }

  package var description: String {
    switch rule {
    case .notJSON: "the body is not JSON: \(expected)"
    case .missingQuery: "\"\(place)\" is missing; it must hold \(expected)"
    case .wrongType: "\"\(place)\" must be \(expected)"
    case .emptyBatch, .batchTooLarge: "the list of operations must hold \(expected)"
    case .malformedParameter: "parameter \"\(place)\" must be \(expected)"
    }
  }
}
