package import MartletGenerator
internal import MartletJSON

/// What `martlet-generate.json` says. Paths are relative to the file's folder.
package struct GenerateSettings: Hashable, Sendable {
  /// Files of the schema: type system definitions, with or without `@model` types, or an introspection answer in JSON.
  package var schema: [String]
  /// Patterns of the operation files.
  package var operations: [String]
  /// The folder for one file per operation, or a file that ends in `.swift` for all.
  package var output: String
  package var generator: GeneratorConfiguration

  /// The name of the file the command and the plugin look for.
  package static let fileName = "martlet-generate.json"
  /// Where the schema is when nothing is said: the first of these that is there.
  package static let schemaNames = ["schema.graphql", "schema.graphqls", "schema.json"]

  package init(
    schema: [String] = ["schema.graphql"], operations: [String] = ["**/*.graphql"], output: String = "Generated",
    generator: GeneratorConfiguration = GeneratorConfiguration()
  ) {
    self.schema = schema
    self.operations = operations
    self.output = output
    self.generator = generator
  }

  /// Reads the file's text.
  ///
  /// - Throws: what does not fit, with the member's name.
  package init(_ text: String, file: String) throws(GenerationErrors) {
    self.init()
    let value: JSONValue
    do {
      value = try JSONValue(parsing: text)
    } catch {
      let advice = file.hasSuffix(".json") ? "" : " Operation files are named by --operations."
      let message = "The configuration cannot be read: \(error.description).\(advice)"
      throw GenerationErrors([GenerationError(.configuration, message, file: file)])
    }
    var reader = SettingsReader(file: file)
    guard let members = value.object else {
      throw GenerationErrors([GenerationError(.configuration, "The configuration must be an object.", file: file)])
    }
    for (key, value) in members {
      switch key {
      case "schema": schema = reader.texts(value, key) ?? schema
      case "operations": operations = reader.texts(value, key) ?? operations
      case "output": output = reader.text(value, key) ?? output
      case "access":
        let names = GeneratorConfiguration.Access.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
        if let access = value.string.flatMap(GeneratorConfiguration.Access.init(rawValue:)) {
          generator.access = access
        } else {
          reader.complain("\"access\" must be one of \(names).")
        }
      case "descriptions":
        if let flag = value.bool {
          generator.descriptions = flag
        } else {
          reader.complain("\"\(key)\" must be true or false.")
        }
      case "models":
        if let flag = value.bool {
          generator.models = flag
        } else {
          reader.complain("\"\(key)\" must be true or false.")
        }
      case "module":
        if let module = value.string, ["Martlet", "MartletHTTP"].contains(module) {
          generator.module = module
        } else {
          reader.complain("\"\(key)\" must be \"Martlet\" or \"MartletHTTP\".")
        }
      case "scalars": generator.scalars = reader.scalars(value)
      case "typeNames": generator.typeNames = reader.names(value, key)
      default:
        reader.complain(
          "Unknown setting \"\(key)\": schema, operations, output, access, scalars, typeNames, descriptions, models or module."
        )
      }
    }
    guard reader.errors.isEmpty else { throw GenerationErrors(reader.errors) }
  }
}

/// Checks members of the configuration and keeps the complaints.
private struct SettingsReader {
  let file: String
  var errors: [GenerationError] = []

  mutating func complain(_ message: String) {
    errors.append(GenerationError(.configuration, message, file: file))
  }

  mutating func text(_ value: JSONValue, _ key: String) -> String? {
    if let text = value.string, !text.isEmpty { return text }
    complain("\"\(key)\" must be text.")
    return nil
  }

  mutating func texts(_ value: JSONValue, _ key: String) -> [String]? {
    let list = value.array ?? [value]
    let texts = list.compactMap(\.string)
    if texts.count == list.count, !texts.isEmpty { return texts }
    complain("\"\(key)\" must be text or a list of texts.")
    return nil
  }

  /// `{"AWSDateTime": "Date"}`, or with a module to import: `{"type": "Date", "module": "Foundation"}`.
  mutating func scalars(_ value: JSONValue) -> [String: GeneratorConfiguration.Scalar] {
    guard let members = value.object else {
      complain("\"scalars\" must be an object of scalar names and Swift types.")
      return [:]
    }
    var scalars: [String: GeneratorConfiguration.Scalar] = [:]
    for (name, value) in members {
      let type = value.string ?? value["type"]?.string
      let module = value["module"]
      if let type, Self.isTypeName(type), module == nil || module?.string.map(Self.isTypeName) == true {
        scalars[name] = GeneratorConfiguration.Scalar(type, module: module?.string)
      } else {
        complain(
          "The scalar \"\(name)\" must be a Swift type, such as \"URL\" or {\"type\": \"URL\", \"module\": \"Foundation\"}."
        )
      }
    }
    return scalars
  }

  mutating func names(_ value: JSONValue, _ key: String) -> [String: String] {
    guard let members = value.object else {
      complain("\"\(key)\" must be an object of GraphQL names and Swift names.")
      return [:]
    }
    var names: [String: String] = [:]
    for (name, value) in members {
      if let text = value.string, Self.isTypeName(text), !text.contains(".") {
        names[name] = text
      } else {
        complain("\"\(key)\": the name for \"\(name)\" must be a Swift name.")
      }
    }
    return names
  }

  /// A name, or names with dots between them.
  private static func isTypeName(_ text: String) -> Bool {
    text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { part in
      guard let first = part.unicodeScalars.first, first.properties.isXIDStart || first == "_" else { return false }
      return part.unicodeScalars.allSatisfy { $0.properties.isXIDContinue }
    }
  }
}
