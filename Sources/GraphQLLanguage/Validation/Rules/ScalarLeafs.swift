/// Fields have a selection exactly when their type has fields.
enum ScalarLeafs {
  static func check(_ field: Field, _ definition: SchemaField, _ validation: Validation) {
    let isLeaf = validation.schema[definition.type.named].isLeaf
    let name = field.name.text
    if let set = field.selectionSet {
      guard isLeaf else { return }
      let type = validation.schema.describe(definition.type)
      validation.report(
        .scalarLeafs, "Field '\(name)' must not have a selection since type '\(type)' has no subfields.", set.location)
    } else if !isLeaf {
      let type = validation.schema.describe(definition.type)
      validation.report(
        .scalarLeafs,
        "Field '\(name)' of type '\(type)' must have a selection of subfields."
          + (validation.suggests ? " Did you mean '\(name) { ... }'?" : ""),
        field.location)
    }
  }
}
