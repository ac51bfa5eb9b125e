/// Fragments can apply to at least one of the objects they are spread on.
enum PossibleFragmentSpreads {
  static func check(_ fragment: InlineFragment, _ type: NamedType, on parent: NamedType, _ validation: Validation) {
    guard !type.overlaps(parent) else { return }
    validation.report(
      .possibleFragmentSpreads,
      "Fragment cannot be spread here as objects of type '\(parent.name)' can never be of type '\(type.name)'.",
      fragment.location)
  }

  static func check(
    _ spread: FragmentSpread, _ fragment: FragmentDefinition, on parent: NamedType, _ validation: Validation
  ) {
    guard let type = validation.schema.type(fragment.typeCondition.text), type.isComposite, !type.overlaps(parent)
    else { return }
    validation.report(
      .possibleFragmentSpreads,
      "Fragment '\(spread.name.text)' cannot be spread here as objects of type '\(parent.name)' can never be of type "
        + "'\(type.name)'.",
      spread.location)
  }
}
