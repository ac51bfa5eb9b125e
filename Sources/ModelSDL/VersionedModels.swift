internal import MartletGraphQLLanguage
internal import MartletModels

/// Reads `@versioned`.
enum VersionedModels {
  /// What happens to a write of the model that was made on an older version; nil for a model without versions.
  static func read(
    _ type: TypeDefinition, otherwise usual: ConflictStrategy?, _ complaints: inout Complaints
  ) -> ConflictStrategy? {
    var conflicts = usual
    if let directive = type.directive("versioned") {
      conflicts = .automerge
      if case .enumeration(let name)? = directive.argument("conflicts")?.kind {
        conflicts = ConflictStrategy(rawValue: name)
      }
    }
    guard conflicts != nil else { return nil }
    for stamp in RecordStamp.allCases {
      guard let field = type.fields.first(where: { $0.name.text == stamp.fieldName }) else { continue }
      complaints.add(
        "\(type.name.text).\(stamp.fieldName) is a field of every versioned model and is not written.",
        at: field.location)
    }
    return conflicts
  }
}

extension FieldDefinition {
  /// Whether the field's value is found in another model.
  var isRelation: Bool {
    ["hasMany", "hasOne", "belongsTo", "manyToMany"].contains { directive($0) != nil }
  }
}
