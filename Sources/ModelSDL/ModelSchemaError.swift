package import MartletGraphQLLanguage
internal import MartletModels

/// Why a model document means nothing. Never empty.
package struct ModelSchemaError: Error, Sendable, CustomStringConvertible {
  package var errors: [GraphQLError]

  package init(_ errors: [GraphQLError]) {
    self.errors = errors
  }

  /// One error a line, each with its place.
  package var description: String {
    errors.map(\.description).joined(separator: "\n")
  }
}

/// Collects what is wrong with a document, so that all of it can be reported at once.
struct Complaints {
  private(set) var errors: [GraphQLError] = []

  mutating func add(_ message: String, at location: Location) {
    errors.append(GraphQLError(message: message, locations: location.source.map { [$0] } ?? []))
  }
}

extension Location {
  /// The place as definitions keep it.
  var place: DefinitionPlace { DefinitionPlace(line: Int(line), column: Int(column), offset: Int(offset)) }
}

extension ModelField {
  var location: Location {
    Location(line: UInt32(place.line), column: UInt32(place.column), offset: UInt32(place.offset))
  }
}

extension Value {
  var string: String? {
    if case .string(let value) = kind { value.text } else { nil }
  }

  /// The strings of a list, or the one string that stands for a list of one.
  var strings: [String]? {
    switch kind {
    case .list(let values):
      let strings = values.compactMap(\.string)
      return strings.count == values.count ? strings : nil
    case .string(let value): return [value.text]
    case .variable, .int, .float, .boolean, .null, .enumeration, .object: return nil
    }
  }

  var isNull: Bool {
    if case .null = kind { true } else { false }
  }

  /// A member of an object value.
  subscript(name: String) -> Value? {
    guard case .object(let fields) = kind else { return nil }
    return fields.first { $0.name.text == name }?.value
  }
}
