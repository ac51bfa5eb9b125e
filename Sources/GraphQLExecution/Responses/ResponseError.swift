package import MartletGraphQLLanguage
package import MartletJSON

/// One entry of a response's `errors`.
package struct ResponseError: Sendable, Hashable {
  package var error: GraphQLError
  /// Empty for none.
  package var extensions: JSONObject

  package init(_ error: GraphQLError, extensions: JSONObject = JSONObject()) {
    self.error = error
    self.extensions = extensions
  }

  package init(
    _ message: String, locations: [SourceLocation] = [], path: [GraphQLError.PathElement] = [],
    extensions: JSONObject = JSONObject()
  ) {
    self.init(GraphQLError(message: message, locations: locations, path: path), extensions: extensions)
  }

  /// Writes the entry as a JSON object (section 7.1.7 "Errors").
  package func write(to writer: inout JSONWriter) {
    writer.beginObject()
    writer.key("message")
    writer.string(error.message)
    if !error.locations.isEmpty {
      writer.key("locations")
      writer.beginArray()
      for location in error.locations {
        writer.beginObject()
        writer.key("line")
        writer.int(Int64(location.line))
        writer.key("column")
        writer.int(Int64(location.column))
        writer.endObject()
      }
      writer.endArray()
    }
    if !error.path.isEmpty {
      writer.key("path")
      writer.beginArray()
      for element in error.path {
        switch element {
        case .key(let name): writer.string(name)
        case .index(let index): writer.int(Int64(index))
        }
      }
      writer.endArray()
    }
    if !extensions.isEmpty {
      writer.key("extensions")
      writer.value(.object(extensions))
    }
    writer.endObject()
  }
}
