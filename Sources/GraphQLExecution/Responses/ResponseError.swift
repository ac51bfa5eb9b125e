package import MartletGraphQLLanguage
package import MartletJSON

/// One entry of a response's `errors`.
package struct ResponseError: Sendable, Hashable {
  package var error: GraphQLError
  /// Empty for none.
  package var extensions: JSONObject
  /// Members that the specification does not know, which clients of another protocol look for.
  package var members = JSONObject()

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
      writer.path(error.path)
    }
    if !extensions.isEmpty {
      writer.key("extensions")
      writer.value(.object(extensions))
    }
    for (name, value) in members {
      writer.key(name)
      writer.value(value)
    }
    writer.endObject()
  }
}

extension JSONWriter {
  /// A member `errors`; nothing when there are none.
  mutating func errors(_ errors: [ResponseError]) {
    guard !errors.isEmpty else { return }
    key("errors")
    beginArray()
    for error in errors { error.write(to: &self) }
    endArray()
  }

  /// A response position.
  mutating func path(_ path: [GraphQLError.PathElement]) {
    beginArray()
    for element in path {
      switch element {
      case .key(let name): string(name)
      case .index(let index): int(Int64(index))
      }
    }
    endArray()
  }
}
