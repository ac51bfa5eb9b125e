/// Types that are named exist.
enum KnownTypeNames {
  static func check(_ name: Name, _ validation: Validation) -> NamedType? {
    if let type = validation.schema.type(name.text) { return type }
    let hint = validation.hint(name.text, among: validation.schema.types.map(\.name))
    validation.report(.knownTypeNames, "Unknown type '\(name.text)'.\(hint)", name.location)
    return nil
  }
}
