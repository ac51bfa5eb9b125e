/// Introspection does not follow lists of lists of types without end.
enum MaxIntrospectionDepth {
  static func check(_ field: Field, _ definition: SchemaField, _ validation: Validation) {
    guard definition === validation.schema.schemaField || definition === validation.schema.typeField,
      let set = field.selectionSet
    else { return }
    var known: [String: Int] = [:]
    if depth(set, &known, validation) > validation.limits.introspectionDepth {
      validation.report(.maxIntrospectionDepth, "Maximum introspection depth exceeded", field.location)
    }
  }

  /// The most lists inside each other below `set`. A fragment that is being looked at counts nothing.
  private static func depth(_ set: SelectionSet, _ known: inout [String: Int], _ validation: Validation) -> Int {
    var deepest = 0
    for selection in set.selections {
      switch selection {
      case .field(let field):
        guard let set = field.selectionSet else {
          if isList(field.name.text) { deepest = max(deepest, 1) }
          continue
        }
        deepest = max(deepest, depth(set, &known, validation) + (isList(field.name.text) ? 1 : 0))
      case .inlineFragment(let fragment): deepest = max(deepest, depth(fragment.selectionSet, &known, validation))
      case .fragmentSpread(let spread):
        let name = spread.name.text
        if let depth = known[name] {
          deepest = max(deepest, depth)
        } else if let fragment = validation.fragments[name] {
          known[name] = 0
          let depth = depth(fragment.selectionSet, &known, validation)
          known[name] = depth
          deepest = max(deepest, depth)
        }
      }
    }
    return deepest
  }

  private static func isList(_ name: String) -> Bool {
    switch name {
    case "fields", "interfaces", "possibleTypes", "inputFields": true
    default: false
    }
  }
}
