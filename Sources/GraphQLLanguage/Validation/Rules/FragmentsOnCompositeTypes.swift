/// Fragments are on types that have fields.
enum FragmentsOnCompositeTypes {
  static func check(
    _ type: NamedType, _ condition: Name, fragment: FragmentDefinition?, _ validation: Validation
  ) {
    guard !type.isComposite else { return }
    let subject = fragment.map { "Fragment '\($0.name.text)'" } ?? "Fragment"
    validation.report(
      .fragmentsOnCompositeTypes, "\(subject) cannot condition on non composite type '\(type.name)'.",
      condition.location)
  }
}
