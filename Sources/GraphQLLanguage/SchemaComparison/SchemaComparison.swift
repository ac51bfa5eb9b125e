/// Finds what changed between two versions of a schema.
package struct SchemaComparison {
  let old: Schema
  let new: Schema
  private(set) var changes: [SchemaChange] = []

  /// All changes, the worst first, then by path.
  package static func changes(from old: Schema, to new: Schema) -> [SchemaChange] {
    var comparison = SchemaComparison(old: old, new: new)
    comparison.compareRoots()
    comparison.compareTypes()
    comparison.compareDirectives()
    return comparison.changes.sorted {
      ($0.severity, $0.path, $0.message) < ($1.severity, $1.path, $1.message)
    }
  }

  private init(old: Schema, new: Schema) {
    self.old = old
    self.new = new
  }

  mutating func add(_ severity: SchemaChange.Severity, _ path: String, _ message: String) {
    changes.append(SchemaChange(severity, path, message))
  }

  private mutating func compareRoots() {
    for kind in OperationKind.allCases {
      switch (old.rootType(kind)?.name, new.rootType(kind)?.name) {
      case (nil, nil): break
      case (nil, let name?): add(.safe, kind.rawValue, "The root type \(name) of \(kind.rawValue) was added")
      case (let name?, nil): add(.breaking, kind.rawValue, "The root type \(name) of \(kind.rawValue) was removed")
      case (let before?, let after?):
        if before != after {
          add(.breaking, kind.rawValue, "The root type of \(kind.rawValue) changed from \(before) to \(after)")
        }
      }
    }
  }

  private mutating func compareTypes() {
    for type in old.types where new.type(type.name) == nil {
      add(.breaking, type.name, "The type \(type.name) was removed")
    }
    for type in new.types {
      guard let before = old.type(type.name) else {
        add(.safe, type.name, "The type \(type.name) was added")
        continue
      }
      guard before.kind == type.kind else {
        add(
          .breaking, type.name, "The type \(type.name) changed from \(before.kind.words) to \(type.kind.words)")
        continue
      }
      compareDescription(before.description, type.description, type.name)
      switch type.kind {
      case .scalar:
        if before.specifiedByURL != type.specifiedByURL {
          add(.dangerous, type.name, "The specification of the scalar \(type.name) changed")
        }
      case .object, .interface: compareFields(before, type)
      case .union:
        compareNames(
          Self.names(before.possibleTypes, old), Self.names(type.possibleTypes, new), type.name, "The member",
          removed: .breaking, added: .dangerous)
      case .enumeration: compareValues(before, type)
      case .inputObject: compareInput(before, type)
      }
    }
  }

  private static func names(_ types: [TypeID], _ schema: Schema) -> [String] {
    types.map { schema[$0].name }
  }

  private mutating func compareNames(
    _ before: [String], _ after: [String], _ owner: String, _ subject: String, removed: SchemaChange.Severity,
    added: SchemaChange.Severity
  ) {
    for name in before where !after.contains(name) {
      add(removed, owner, "\(subject) \(name) was removed from \(owner)")
    }
    for name in after where !before.contains(name) {
      add(added, owner, "\(subject) \(name) was added to \(owner)")
    }
  }

  private mutating func compareFields(_ before: NamedType, _ after: NamedType) {
    compareNames(
      Self.names(before.interfaces, old), Self.names(after.interfaces, new), after.name, "The interface",
      removed: .breaking, added: .dangerous)
    for field in before.fields where after.field(field.name) == nil {
      let path = "\(before.name).\(field.name)"
      add(.breaking, path, "The field \(path) was removed")
    }
    for field in after.fields {
      let path = "\(after.name).\(field.name)"
      guard let known = before.field(field.name) else {
        add(.safe, path, "The field \(path) was added")
        continue
      }
      compareDescription(known.description, field.description, path)
      compareDeprecation(known.deprecationReason, field.deprecationReason, path)
      compareOutput(known.type, field.type, path)
      compareInputs(known.arguments, field.arguments, "argument") { "\(path)(\($0):)" }
    }
  }

  private mutating func compareValues(_ before: NamedType, _ after: NamedType) {
    compareNames(
      before.enumValues.map(\.name), after.enumValues.map(\.name), after.name, "The value", removed: .breaking,
      added: .dangerous)
    for value in after.enumValues {
      guard let known = before.enumValue(value.name) else { continue }
      compareDescription(known.description, value.description, "\(after.name).\(value.name)")
      compareDeprecation(known.deprecationReason, value.deprecationReason, "\(after.name).\(value.name)")
    }
  }

  private mutating func compareInput(_ before: NamedType, _ after: NamedType) {
    if before.isOneOf != after.isOneOf {
      add(
        after.isOneOf ? .breaking : .safe, after.name,
        after.isOneOf
          ? "The input object \(after.name) now takes exactly one field"
          : "The input object \(after.name) takes any number of fields now")
    }
    compareInputs(before.inputFields, after.inputFields, "input field") { "\(after.name).\($0)" }
  }

  mutating func compareDescription(_ before: String?, _ after: String?, _ path: String) {
    let isSame = (before ?? "").utf8.elementsEqual((after ?? "").utf8)
    if !isSame { add(.safe, path, "The description of \(path) changed") }
  }

  mutating func compareDeprecation(_ before: String?, _ after: String?, _ path: String) {
    switch (before, after) {
    case (nil, nil): break
    case (nil, _?): add(.safe, path, "\(path) is deprecated now")
    case (_?, nil): add(.safe, path, "\(path) is deprecated no more")
    case (let before?, let after?):
      if !before.utf8.elementsEqual(after.utf8) { add(.safe, path, "The reason why \(path) is deprecated changed") }
    }
  }
}
