public import MartletGraphQLClient
internal import MartletStore

/// How a field's values are stored.
public enum ModelFieldType: Sendable, Hashable {
  /// Text, an enumeration with text as raw value, a date: what encodes as a JSON string.
  case text
  /// A whole number.
  case integer
  /// A number.
  case real
  /// `true` or `false`.
  case boolean
  /// A list or an embedded type: what encodes as a JSON array or object.
  case embedded

  var storage: ColumnStorage {
    switch self {
    case .text: .text
    case .integer: .integer
    case .real: .real
    case .boolean: .boolean
    case .embedded: .json
    }
  }
}

/// A model that says itself how its fields are stored. Needed only for fields whose type cannot be determined: those
/// that refuse to decode from an empty value, such as a UUID.
public protocol StoredModel: Model {
  /// The types of such fields.
  static var fieldTypes: [CodingKeys: ModelFieldType] { get }
}
