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

/// A model that says itself what a store cannot find out from its fields: relations, indexes, and the types of fields
/// that refuse to decode from an empty value.
///
///     struct Comment: StoredModel {
///       var id: String
///       var content: String
///       var post: LazyReference<Post>
///       enum CodingKeys: String, ModelKey { case id, content, post }
///       static var relations: [CodingKeys: ModelAssociation] { [.post: .belongsTo(Post.self, fields: "postID")] }
///     }
public protocol StoredModel: Model {
  /// The types of fields whose type cannot be determined. Default: none.
  static var fieldTypes: [CodingKeys: ModelFieldType] { get }
  /// The fields that hold records of other models: a `LazyReference` or `List`, read when they are asked for, or the
  /// other model, an optional or an array of it, read with the record. Default: none.
  static var relations: [CodingKeys: ModelAssociation] { get }
  /// What records from before a field existed hold in it; null without. Default: none.
  static var fieldDefaults: [CodingKeys: JSONValue] { get }
  /// Indexes that queries use. Keys and relations have theirs. Default: none.
  static var indexes: [StoredIndex] { get }
}

extension StoredModel {
  /// None: all types are determined.
  public static var fieldTypes: [CodingKeys: ModelFieldType] { [:] }
  /// None.
  public static var relations: [CodingKeys: ModelAssociation] { [:] }
  /// None.
  public static var fieldDefaults: [CodingKeys: JSONValue] { [:] }
  /// None.
  public static var indexes: [StoredIndex] { [] }
}

/// An index of a model's table.
public struct StoredIndex: Sendable, Hashable {
  /// Its name, which is unique among the model's.
  public var name: String
  /// The fields that it orders by, the first being the most important.
  public var fields: [String]

  /// An index over fields by their names in the store: those of the model's keys, or of a relation's key.
  public init(_ name: String, fields: String...) {
    self.name = name
    self.fields = fields
  }
}

/// How a field finds records of another model.
public struct ModelAssociation: Sendable, Hashable {
  /// What happens to the records of a has-many or has-one relation when the record that has them is deleted.
  public enum DeleteRule: Sendable, Hashable {
    /// They are deleted before it, in the same transaction.
    case cascade
    /// The record stays, and its deletion fails with `constraint`.
    case restrict
    /// They stay, without their reference, which they must be able to lack.
    case setNull
  }

  enum Kind: Sendable, Hashable { case belongsTo, holdsOne, hasOne, hasMany }

  let kind: Kind
  let target: String
  let fields: [String]
  let isRequired: Bool
  let deleteRule: DeleteRule

  /// The record names one record of `type`: it has the other's key in `fields`, in the order of the key. Fields that
  /// the type does not have are stored all the same.
  ///
  /// - Parameter isRequired: whether a save without a reference fails with `constraint`.
  public static func belongsTo<M: Model>(
    _ type: M.Type, fields: String..., isRequired: Bool = false
  ) -> ModelAssociation {
    ModelAssociation(
      kind: .belongsTo, target: type.modelName, fields: fields, isRequired: isRequired, deleteRule: .cascade)
  }

  /// Records of `type` have this record's key in their `fields`.
  public static func hasMany<M: Model>(
    _ type: M.Type, fields: String..., onDelete rule: DeleteRule = .cascade
  ) -> ModelAssociation {
    ModelAssociation(kind: .hasMany, target: type.modelName, fields: fields, isRequired: false, deleteRule: rule)
  }

  /// One record of `type` has this record's key in its `fields`; a second one is refused with `constraint`.
  public static func hasOne<M: Model>(
    _ type: M.Type, fields: String..., onDelete rule: DeleteRule = .cascade
  ) -> ModelAssociation {
    ModelAssociation(kind: .hasOne, target: type.modelName, fields: fields, isRequired: false, deleteRule: rule)
  }

  /// The record has the key of one record of `type` in `fields`, and no other record names that one.
  public static func hasOne<M: Model>(
    _ type: M.Type, heldIn fields: String..., isRequired: Bool = false
  ) -> ModelAssociation {
    ModelAssociation(
      kind: .holdsOne, target: type.modelName, fields: fields, isRequired: isRequired, deleteRule: .cascade)
  }
}
