package import MartletGraphQLLanguage
package import MartletJSON

/// The finished answer to one operation as a result tree: data, errors, extensions (section 7 "Response").
package struct ResponseTree: Sendable {
  /// Nil for a request error: such a response has no `data` member at all.
  package var data: ResultValue? { didSet { made = nil } }
  package var errors: [ResponseError] { didSet { made = nil } }
  package var extensions: JSONObject { didSet { made = nil } }
  /// The response's bytes, when they have been made already.
  private var made: [UInt8]?

  package init(data: ResultValue?, errors: [ResponseError], extensions: JSONObject = JSONObject()) {
    self.data = data
    self.errors = errors
    self.extensions = extensions
  }

  /// A request that was not executed.
  package static func requestError(_ errors: [GraphQLError]) -> ResponseTree {
    ResponseTree(data: nil, errors: errors.map { ResponseError($0) })
  }

  /// Writes the response as a JSON object, errors first.
  package func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writeMembers(to: &writer)
    writer.endObject()
  }

  /// Writes the members of the response's object.
  package func writeMembers(to writer: inout JSONWriter) {
    writer.errors(errors)
    if let data {
      writer.key("data")
      data.write(to: &writer)
    }
    if !extensions.isEmpty {
      writer.key("extensions")
      writer.value(.object(extensions))
    }
  }

  /// The same response with its bytes, which are not made again.
  package var encoded: ResponseTree {
    var result = self
    result.made = bytes
    return result
  }

  /// The response's bytes.
  package var bytes: [UInt8] {
    if let made { return made }
    var writer = JSONWriter(room: 256)
    write(to: &writer)
    return writer.bytes
  }
}
