import MartletGraphQLClientWire
import MartletJSON

/// An operation with files as a form (GraphQL multipart request specification). Nothing is read yet.
package struct UploadForm {
  package let body: RequestBody
  package let contentType: String
  /// The operation, with null in its variables where files belong.
  package let request: OperationRequest

  /// - Throws: `invalidRequest` for a field name under which the variables have no place for a file.
  package init(_ request: OperationRequest, _ files: [GraphQLFile], boundary: String) throws(GraphQLClientError) {
    var request = request
    var variables = JSONValue.object(request.variables)
    var parts: [MultipartRequest.FilePart] = []
    for (index, file) in files.enumerated() {
      let twins = files.filter { $0.fieldName.utf8.elementsEqual(file.fieldName.utf8) }.count
      let earlier = files[..<index].filter { $0.fieldName.utf8.elementsEqual(file.fieldName.utf8) }.count
      let path = twins > 1 ? "\(file.fieldName).\(earlier)" : file.fieldName
      let steps = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
      guard Self.makePlace(in: &variables, steps[...]) else {
        throw GraphQLClientError(.invalidRequest, "the variables have no place for a file at \(path)")
      }
      parts.append(
        MultipartRequest.FilePart(path: "variables.\(path)", name: file.originalName, mediaType: file.mimeType))
    }
    request.variables = variables.object ?? request.variables
    self.request = request
    contentType = MultipartRequest.contentType(boundary: boundary)
    let pieces = MultipartRequest.pieces(operations: request.wire.serialized(), files: parts, boundary: boundary)
    body = RequestBody(
      pieces.map { piece in
        switch piece {
        case .bytes(let bytes): .bytes(bytes)
        case .file(let index):
          switch files[index].source {
          case .bytes(let bytes): .bytes(bytes)
          case .file(let file): .file(file)
          }
        }
      })
  }

  /// Puts null at a path; false where something else is in the way. Objects and lists on the way are made.
  private static func makePlace(in value: inout JSONValue, _ path: ArraySlice<String>) -> Bool {
    guard let step = path.first else {
      value = .null
      return true
    }
    if let index = Int(step), value.array != nil || value.isNull {
      var list = value.array ?? []
      guard index >= 0, index <= list.count else { return false }
      if index == list.count { list.append(.null) }
      guard makePlace(in: &list[index], path.dropFirst()) else { return false }
      value = .array(list)
      return true
    }
    guard !step.isEmpty, value.object != nil || value.isNull else { return false }
    var object = value.object ?? JSONObject()
    var inner = object[step] ?? .null
    guard makePlace(in: &inner, path.dropFirst()) else { return false }
    object[step] = inner
    value = .object(object)
    return true
  }
}
