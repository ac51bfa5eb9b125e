import MartletGraphQLLanguage

extension ExecutableSchema {
  /// The object type that a value names where an interface or a union stands.
  func objectType(
    _ name: String, in abstract: NamedType, for field: FieldPlan
  ) throws(PlanFault) -> NamedType {
    guard let named = schema.type(name) else {
      throw PlanFault(
        message:
          "Abstract type '\(abstract.name)' was resolved to a type '\(name)' that does not exist inside the schema.",
        locations: field.locations)
    }
    guard named.kind == .object else {
      throw PlanFault(
        message: "Abstract type '\(abstract.name)' was resolved to a non-object type '\(name)'.",
        locations: field.locations)
    }
    guard abstract.includes(named.id) else {
      throw PlanFault(
        message: "Runtime Object type '\(named.name)' is not a possible type for '\(abstract.name)'.",
        locations: field.locations)
    }
    return named
  }
}
