internal import MartletGraphQLClient
internal import MartletJSON
internal import MartletServer

/// What the server reads of documents, and the errors it answers itself.
extension WorldServer {
  static func error(_ code: String, _ message: String) -> JSONValue {
    ["errors": [["message": .string(message), "extensions": ["code": .string(code)]]]]
  }

  /// The first field of a document's selection.
  static func rootField(_ document: String) -> String {
    let selection = document.drop { $0 != "{" }.dropFirst().drop { $0 == " " || $0 == "\n" }
    return String(selection.prefix { $0.isLetter || $0.isNumber || $0 == "_" })
  }

  /// A document that names fields the schema does not have is not valid.
  static func unknownField(_ request: OperationRequest, _ field: String, _ service: SyncService) -> JSONValue? {
    let model = request.kind == .mutation ? String(field.drop { !$0.isUppercase }) : "Note"
    guard let known = service.fields(of: model) else { return nil }
    let names = request.document.contains(" mood") ? ["mood"] : []
    guard let unknown = (names + (request.variables["input"]?.object?.keys ?? [])).first(where: { !known.contains($0) })
    else { return nil }
    return error("GRAPHQL_VALIDATION_FAILED", "\(model) has no field \(unknown)")
  }
}
