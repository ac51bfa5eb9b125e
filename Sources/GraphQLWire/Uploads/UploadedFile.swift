package import MartletJSON
package import MartletWire

/// A file that travels beside an operation.
package struct UploadedFile: Equatable, Sendable {
  package var name: String
  package var mediaType: String
  package var bytes: [UInt8]

  package init(name: String, mediaType: String, bytes: [UInt8]) {
    self.name = name
    self.mediaType = mediaType
    self.bytes = bytes
  }

  /// The value that stands in the variables where the file belongs; its content is base64.
  package var variable: JSONValue {
    .object(
      JSONObject([
        ("filename", .string(name)), ("mimetype", .string(mediaType)), ("content", .string(Base64.encode(bytes))),
      ]))
  }
}

/// Bounds of one multipart request.
package struct UploadLimits: Sendable {
  /// Most files of one request.
  package var files = 20
  /// Largest number of other fields of the form, which are ignored.
  package var fields = 20
  /// Longest file. The whole request is bounded where it is received.
  package var fileBytes = 10_485_760
  /// Longest `operations`, and longest `map`.
  package var operationsBytes = 1_048_576

  package init() {}
}

/// Why a body is not a GraphQL multipart request.
package enum UploadError: Error, Equatable, Sendable, CustomStringConvertible {
  case multipart(MultipartFailure)
  /// A part has no `Content-Disposition: form-data` with a name.
  case unnamedPart(Int)
  /// `operations` must come first, `map` second.
  case order(expected: String, found: String)
  case missing(String)
  /// `operations` is not a request, nor a list of requests.
  case operations(GraphQLRequestError)
  case map(String)
  /// A path of the map names no place in the operations, or one whose value is not null.
  case path(String)
  case duplicateFile(String)
  case fileMissing(String)
  case tooManyFiles(limit: Int)
  case tooLarge(part: String, limit: Int)

  package var description: String {
    switch self {
    case .multipart(let failure): failure.description
    case .unnamedPart(let part): "part \(part + 1) has no name in its Content-Disposition"
    case .order(let expected, let found): "expected the part \"\(expected)\", found \"\(found)\""
    case .missing(let part): "the part \"\(part)\" is missing"
    case .operations(let error): "operations: \(error)"
    case .map(let what): "map: \(what)"
    case .path(let path): "map: \"\(path)\" names no null value in a request's variables"
    case .duplicateFile(let name): "the file \"\(name)\" came twice"
    case .fileMissing(let name): "the file \"\(name)\" of map did not come"
    case .tooManyFiles(let limit): "more than \(limit) files"
    case .tooLarge(let part, let limit): "\"\(part)\" is larger than \(limit) bytes"
    }
  }

  /// 413 for what is too large, else 400.
  package var status: Int {
    switch self {
    case .tooManyFiles, .tooLarge: 413
    case .multipart(let failure): failure.rule == .partTooLarge ? 413 : 400
    case .unnamedPart, .order, .missing, .operations, .map, .path, .duplicateFile, .fileMissing: 400
    }
  }
}
