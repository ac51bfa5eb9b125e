/// Fields that are selected exist on the type they are selected on.
enum FieldsOnCorrectType {
  static func check(_ field: Field, on parent: NamedType, _ validation: Validation) -> SchemaField? {
    if let definition = validation.schema.field(field.name.text, on: parent) { return definition }
    validation.report(
      .fieldsOnCorrectType,
      "Cannot query field '\(field.name.text)' on type '\(parent.name)'."
        + (validation.suggests ? suggestion(field.name.text, parent, validation.schema) : ""),
      field.location)
    return nil
  }

  private static func suggestion(_ name: String, _ parent: NamedType, _ schema: Schema) -> String {
    let types = typesWithField(name, parent, schema)
    if !types.isEmpty { return Suggestions.text(types, "to use an inline fragment on ") }
    guard parent.kind != .union else { return "" }
    return Suggestions.text(Suggestions.near(name, among: parent.fields.map(\.name)))
  }

  /// The types below an abstract type that have the field: interfaces most of them share first.
  private static func typesWithField(_ name: String, _ parent: NamedType, _ schema: Schema) -> [String] {
    guard parent.isAbstract else { return [] }
    var found: [(type: NamedType, uses: Int)] = []
    for object in parent.possibleTypes.map({ schema[$0] }) where object.field(name) != nil {
      if !found.contains(where: { $0.type === object }) { found.append((object, 0)) }
      for interface in object.interfaces.map({ schema[$0] }) where interface.field(name) != nil {
        if let index = found.firstIndex(where: { $0.type === interface }) {
          found[index].uses += 1
        } else {
          found.append((interface, 1))
        }
      }
      if found.count > Suggestions.mostOptions { break }
    }
    return found.sorted { left, right in
      if left.uses != right.uses { return left.uses > right.uses }
      if right.type.interfaces.contains(left.type.id) { return true }
      if left.type.interfaces.contains(right.type.id) { return false }
      return left.type.name < right.type.name
    }
    .map(\.type.name)
  }
}
