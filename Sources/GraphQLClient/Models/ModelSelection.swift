/// What a request selects of a field that is not a scalar.
public struct ModelSelection: Sendable {
  package enum Kind: Sendable { case record, connection, embedded }

  package let kind: Kind
  /// The selection's fields, `depth` associations deep.
  package let fields: @Sendable (_ depth: Int) -> String

  /// Another model: all its fields, and of the models it holds what identifies them.
  public static func model<Other: Model>(_ type: Other.Type) -> ModelSelection {
    ModelSelection(kind: .record) { depth in
      depth > 0 ? ModelFields.all(of: type, depth: depth - 1) : ModelFields.identity(of: type)
    }
  }

  /// Another model: only what identifies it.
  public static func key<Other: Model>(of type: Other.Type) -> ModelSelection {
    ModelSelection(kind: .record) { _ in ModelFields.identity(of: type) }
  }

  /// The first page of a model's records, read into `ModelPage`.
  public static func page<Other: Model>(of type: Other.Type) -> ModelSelection {
    ModelSelection(kind: .connection) { depth in
      let fields = depth > 0 ? ModelFields.all(of: type, depth: depth - 1) : ModelFields.identity(of: type)
      return "items { \(fields) } nextToken"
    }
  }

  /// A type embedded in the record: the named fields, which are also written. Nested ones as in a document:
  /// `"street city { name }"`.
  public static func embedded(_ fields: String) -> ModelSelection {
    ModelSelection(kind: .embedded) { _ in fields }
  }
}

/// A page of records, with the token that asks for the next one.
public struct ModelPage<Item: Codable & Sendable>: Codable, Sendable {
  /// The records.
  public var items: [Item]
  /// Asks for the next page; nil on the last.
  public var nextToken: String?

  /// A page of these records.
  public init(items: [Item], nextToken: String? = nil) {
    self.items = items
    self.nextToken = nextToken
  }
}

extension ModelPage: Equatable where Item: Equatable {}

/// Selection sets of models.
package enum ModelFields {
  /// How many associations deep requests ask; the records beyond are only identified.
  package static let depth = 1

  package static func all<Record: Model>(of type: Record.Type, depth: Int = depth) -> String {
    let nested = Record.nested
    return Record.CodingKeys.allCases.map { key in
      guard let selection = nested[key] else { return key.stringValue }
      return "\(key.stringValue) { \(selection.fields(depth)) }"
    }.joined(separator: " ")
  }

  package static func identity<Record: Model>(of type: Record.Type) -> String {
    Record.primaryKey.map(\.stringValue).joined(separator: " ")
  }
}
