package import MartletGraphQLLanguage
import MartletJSON

/// The files of a schema: type system definitions, or the answer to an introspection query.
package struct SchemaSources: Sendable {
  package let document: Document
  /// The definitions as text; nil when they come from introspection.
  package let text: String?
  /// The way back to files; nil when the definitions come from introspection.
  private let joined: JoinedSources?
  private let name: String?

  /// Reads all files. A text whose first byte is a brace is an introspection answer in JSON, which stands alone.
  ///
  /// - Throws: what is wrong with the texts, with file and place.
  package init(_ files: [SourceFile], limits: GeneratorLimits = GeneratorLimits()) throws(GenerationErrors) {
    name = files.count == 1 ? files.first?.name : nil
    guard let answer = files.first(where: { Self.isIntrospection($0.text) }) else {
      let sources = try JoinedSources(files, limits: .schema)
      joined = sources
      document = sources.document
      text = sources.text
      return
    }
    guard files.count == 1 else {
      throw GenerationErrors([
        GenerationError(
          .configuration, "An introspection answer is a whole schema and goes with no other file.", file: answer.name)
      ])
    }
    joined = nil
    text = nil
    do {
      document = try IntrospectionReader.document(from: try Self.json(answer.text), limits: limits)
    } catch {
      var error = error
      error.file = answer.name
      throw GenerationErrors([error])
    }
  }

  /// What schemas are taken to be: someone else's, whose server may send results in parts.
  package static let options = SchemaOptions(incrementalDelivery: true, isForeign: true)

  /// The resolved schema.
  package func schema() throws(GenerationErrors) -> Schema {
    let schema: Schema
    do {
      schema = try Schema.build(from: document, options: Self.options)
    } catch {
      throw placed(error.errors)
    }
    guard schema.queryType != nil else {
      throw GenerationErrors([GenerationError(.validation, "The schema has no query root type.", file: name)])
    }
    return schema
  }

  /// Errors of the document with the file each belongs to.
  package func placed(_ errors: [GraphQLError]) -> GenerationErrors {
    GenerationErrors(
      errors.map { error in
        var placed = joined?.error(.validation, error.message, at: error.locations)
        if placed?.file == nil { placed?.file = name }
        return placed ?? GenerationError(.validation, error.message, file: name)
      })
  }

  /// Whether a text is JSON rather than GraphQL.
  private static func isIntrospection(_ text: String) -> Bool {
    text.utf8.first { ![0x20, 0x09, 0x0A, 0x0D, 0xEF, 0xBB, 0xBF].contains($0) } == UInt8(ascii: "{")
  }

  private static func json(_ text: String) throws(GenerationError) -> JSONValue {
    do {
      return try JSONValue(parsing: text)
    } catch {
      throw GenerationError(.syntax, "The schema begins with a brace but is not JSON: \(error.description).")
    }
  }
}
