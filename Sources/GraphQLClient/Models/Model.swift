internal import MartletVocabulary

/// A type of the server's model schema, as requests need to know it: its name, its fields, what identifies it.
///
///     struct Todo: Model {
///       var id: String
///       var title: String
///       enum CodingKeys: String, ModelKey { case id, title }
///     }
///
/// The cases of `CodingKeys` are the fields that requests ask for; everything else has a default. Fields that hold
/// other models or embedded types say in `nested` what is asked for of them.
public protocol Model: Codable, Sendable {
  /// The fields, by the names they have on the server.
  associatedtype CodingKeys: ModelKey

  /// The type's name in the schema. Default: the Swift type's name.
  static var modelName: String { get }
  /// The plural in the names of list queries. Default: the English plural the server forms.
  static var pluralModelName: String { get }
  /// The fields that identify a record, in the key's order. Default: `id`.
  static var primaryKey: [CodingKeys] { get }
  /// The GraphQL types of identifying fields that are neither `id` (an ID) nor text (a String).
  static var keyTypes: [CodingKeys: String] { get }
  /// What is asked for of fields that are not scalars. Default: nothing, so all fields are scalars.
  static var nested: [CodingKeys: ModelSelection] { get }
  /// Fields that only the server writes and that inputs leave out. Default: `createdAt` and `updatedAt`.
  static var readOnly: [CodingKeys] { get }
}

/// A field of a model: the case of an enumeration whose raw value is the field's name on the server.
///
///     enum CodingKeys: String, ModelKey { case id, title, rating }
public protocol ModelKey: CodingKey, CaseIterable, Hashable, Sendable where AllCases: Sendable {}

extension Model {
  /// The type's keys, for predicates and orders: `let post = Post.keys; post.rating > 10`.
  public static var keys: CodingKeys.Type { CodingKeys.self }

  /// The Swift type's name.
  public static var modelName: String { "\(Self.self)" }
  /// The English plural the server forms.
  public static var pluralModelName: String { ModelNames.plural(modelName) }
  /// `id`.
  public static var primaryKey: [CodingKeys] { key(named: "id").map { [$0] } ?? [] }
  /// None: identifying fields are ids or text.
  public static var keyTypes: [CodingKeys: String] { [:] }
  /// None: all fields are scalars.
  public static var nested: [CodingKeys: ModelSelection] { [:] }
  /// `createdAt` and `updatedAt`, where the model has them.
  public static var readOnly: [CodingKeys] { ["createdAt", "updatedAt"].compactMap(key(named:)) }

  /// Case by case: a key's own failable initialiser would take other spellings of the same text.
  private static func key(named name: String) -> CodingKeys? {
    CodingKeys.allCases.first { $0.stringValue == name }
  }
}
