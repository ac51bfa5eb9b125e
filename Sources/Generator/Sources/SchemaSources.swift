package import MartletGraphQLLanguage
import MartletJSON

/// A schema from texts: type system definitions, or the answer to an introspection query.
package enum SchemaSources {
  /// The definitions of all files, in their order.
  ///
  /// A text whose first byte is a brace is an introspection answer in JSON.
  /// - Throws: what is wrong with the texts, with file and place.
  package static func document(
    _ files: [SourceFile], limits: GeneratorLimits = GeneratorLimits()
  ) throws(GenerationErrors) -> Document {
    var errors: [GenerationError] = []
    var definitions: [Definition] = []
    for file in files {
      do {
        definitions += try Self.definitions(file, limits)
      } catch {
        var error = error
        error.file = file.name
        errors.append(error)
      }
    }
    guard errors.isEmpty else { throw GenerationErrors(errors) }
    return Document(definitions: definitions)
  }

  /// The resolved schema of definitions. `file` is named by errors.
  package static func schema(_ document: Document, file: String?) throws(GenerationErrors) -> Schema {
    do {
      return try Schema.build(from: document)
    } catch {
      throw GenerationErrors(
        error.errors.map { GenerationError(.validation, $0.message, file: file, location: $0.locations.first) })
    }
  }

  /// Whether a text is JSON rather than GraphQL.
  package static func isIntrospection(_ text: String) -> Bool {
    text.utf8.first { ![0x20, 0x09, 0x0A, 0x0D, 0xEF, 0xBB, 0xBF].contains($0) } == UInt8(ascii: "{")
  }

  private static func definitions(
    _ file: SourceFile, _ limits: GeneratorLimits
  ) throws(GenerationError) -> [Definition] {
    if isIntrospection(file.text) {
      let value: JSONValue
      do {
        value = try JSONValue(parsing: file.text)
      } catch {
        throw GenerationError(.syntax, "The schema begins with a brace but is not JSON: \(error.description).")
      }
      return try IntrospectionReader.document(from: value, limits: limits).definitions
    }
    do {
      return try Parser.parse(file.text, name: file.name, limits: .schema).definitions
    } catch {
      throw GenerationError(.syntax, error.graphQLError.message, location: error.location)
    }
  }
}
