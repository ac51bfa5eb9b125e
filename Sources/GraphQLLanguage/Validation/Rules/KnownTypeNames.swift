/// Types that are named exist.
enum KnownTypeNames {
  static func check(_ name: Name, _ validation: Validation) -> NamedType? {
    if let type = validation.schema.type(name.text) { return type }
    let near = Suggestions.near(name.text, among: validation.schema.types.map(\.name))
    validation.report(.knownTypeNames, "Unknown type '\(name.text)'.\(Suggestions.text(near))", name.location)
    return nil
  }
}
