package import MartletJSON
internal import MartletPatterns

/// What one `@model` type means.
package struct ModelDefinition: Sendable {
  /// Position among the schema's models; changes carry it.
  package var number: Int
  /// The GraphQL type's name.
  package var name: String
  /// As the list query and the index queries name it.
  package var pluralName: String
  /// The name the data is stored under: the type's, or `@mapsTo`'s or `@refersTo`'s.
  package var tableName: String
  package var fields: [ModelField]
  /// Positions of the primary key's fields: `id` unless `@primaryKey` says otherwise.
  package var primaryKey: [Int]
  package var indexes: [ModelIndex] = []
  package var relations: [ModelRelation] = []
  /// The `@auth` rules of the type and of its fields.
  package var access = ModelAccess()
  package var operations = ModelOperations()
  /// What happens to a write that was made on an older version; nil for a model without versions on the wire.
  package var conflicts: ConflictStrategy?
  /// Fields that are not stored and that resolvers of the program answer (`@computed`).
  package var computed: [String] = []
  /// Positions of the time stamps, when the model keeps them.
  package var createdAt: Int?
  package var updatedAt: Int?
  package var place: DefinitionPlace

  package init(
    number: Int, name: String, pluralName: String, tableName: String, fields: [ModelField], primaryKey: [Int],
    place: DefinitionPlace
  ) {
    self.number = number
    self.name = name
    self.pluralName = pluralName
    self.tableName = tableName
    self.fields = fields
    self.primaryKey = primaryKey
    self.place = place
  }

  /// The position of the field called `name`.
  package func position(of name: String) -> Int? {
    fields.firstIndex { $0.name == name }
  }

  /// The key of a record of this model.
  package func key(of record: Record) -> RecordKey {
    record.key(primaryKey)
  }
}

/// One stored field of a model.
package struct ModelField: Sendable {
  package enum Kind: Sendable, Hashable {
    case scalar(ScalarKind)
    case enumeration(name: String, values: [String])
    /// A type without `@model`, stored inside the record.
    case embedded(String)
  }

  package var name: String
  /// The name the values are stored under: the field's, or `@mapsTo`'s.
  package var columnName: String
  package var kind: Kind
  package var isRequired: Bool
  package var isList = false
  package var isElementRequired = false
  /// What a create without the field stores (`@default`).
  package var defaultValue: JSONValue?
  package var validations: [FieldValidation] = []
  /// Whether a relation brought it in: it is stored and can be written, but the type does not show it.
  package var isImplicit = false
  package var place: DefinitionPlace

  package init(name: String, columnName: String, kind: Kind, isRequired: Bool, place: DefinitionPlace) {
    self.name = name
    self.columnName = columnName
    self.kind = kind
    self.isRequired = isRequired
    self.place = place
  }

  /// Whether the values are dates or times, which filters compare by the moments that they mean.
  package var isMoment: Bool {
    guard !isList, case .scalar(let kind) = self.kind else { return false }
    return kind.isMoment
  }

  /// The type a filter on this field has.
  package var filterBase: ScalarKind? {
    switch kind {
    case .scalar(let kind): kind.filterBase
    case .enumeration, .embedded: nil
    }
  }
}

/// A declared index (`@index`).
package struct ModelIndex: Sendable, Hashable {
  package var name: String
  /// Positions: the hash field first, then the sort key's.
  package var fields: [Int]
  /// The query that lists by this index; nil for none.
  package var queryField: String?

  package init(name: String, fields: [Int], queryField: String?) {
    self.name = name
    self.fields = fields
    self.queryField = queryField
  }
}

/// A field whose value is found in another model.
package struct ModelRelation: Sendable, Hashable {
  package enum Kind: Sendable, Hashable { case hasMany, hasOne, belongsTo }
  /// What happens to the children of a record that is deleted.
  package enum DeleteAction: String, Sendable, Hashable {
    /// They are deleted too.
    case cascade = "CASCADE"
    /// The record is not deleted while it has children.
    case restrict = "RESTRICT"
    /// They stay, without their reference to the record.
    case setNull = "SET_NULL"
  }

  package var name: String
  package var kind: Kind
  /// The other model's number.
  package var target: Int
  /// Positions in this model whose values select…
  package var sourceFields: [Int]
  /// …the records of the other model that have them in these positions.
  package var targetFields: [Int]
  package var isRequired: Bool
  /// Page size of a has-many relation without an argument.
  package var limit: Int
  /// What happens to the children of a record that is deleted; they stay for nil.
  package var onDelete: DeleteAction?

  package init(
    name: String, kind: Kind, target: Int, sourceFields: [Int], targetFields: [Int], isRequired: Bool,
    limit: Int = Self.usualLimit, onDelete: DeleteAction? = nil
  ) {
    self.name = name
    self.kind = kind
    self.target = target
    self.sourceFields = sourceFields
    self.targetFields = targetFields
    self.isRequired = isRequired
    self.limit = limit
    self.onDelete = onDelete
  }

  /// The page size of a relation that declares none.
  package static let usualLimit = 100

  /// Whether the relation declares a page size of its own.
  package var hasOwnLimit: Bool { limit != Self.usualLimit }
}

/// The names of a model's operations; nil where `@model` switched one off.
package struct ModelOperations: Sendable, Hashable {
  package var get: String?
  package var list: String?
  /// The sync query; only versioned models have one.
  package var sync: String?
  package var create: String?
  package var update: String?
  package var delete: String?
  package var onCreate: String?
  package var onUpdate: String?
  package var onDelete: String?

  package init() {}
}

/// A check on written values (`@validate`).
package struct FieldValidation: Sendable, Hashable {
  package enum Rule: String, Sendable, CaseIterable {
    case gt, lt, gte, lte, minLength, maxLength, startsWith, endsWith, matches
  }

  package let rule: Rule
  package let value: String
  package var errorMessage: String?
  /// The expression of `matches`, compiled once. Nil for one that needs backtracking, which is tried by the standard
  /// library's engine.
  let pattern: Pattern?

  package init(rule: Rule, value: String, errorMessage: String?) {
    self.rule = rule
    self.value = value
    self.errorMessage = errorMessage
    pattern = rule == .matches && !Self.combinesSets(value) ? try? Pattern(value) : nil
  }

  /// Whether an expression has sets inside of sets, which the linear engine takes for their characters.
  private static func combinesSets(_ text: String) -> Bool {
    var (isInSet, isEscaped) = (false, false)
    var previous: Unicode.Scalar?
    for scalar in text.unicodeScalars {
      if isEscaped {
        isEscaped = false
        previous = nil
        continue
      }
      if isInSet, scalar == "[" || previous == scalar && (scalar == "&" || scalar == "-" || scalar == "~") {
        return true
      }
      switch scalar {
      case "\\": isEscaped = true
      case "[": isInSet = true
      case "]": isInSet = false
      default: break
      }
      previous = scalar
    }
    return false
  }

  package static func == (left: FieldValidation, right: FieldValidation) -> Bool {
    left.rule == right.rule && left.value == right.value && left.errorMessage == right.errorMessage
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(rule)
    hasher.combine(value)
    hasher.combine(errorMessage)
  }
}
