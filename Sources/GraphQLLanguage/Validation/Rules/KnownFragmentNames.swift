/// Fragments that are spread exist.
enum KnownFragmentNames {
  static func check(_ spread: FragmentSpread, _ validation: Validation) -> FragmentDefinition? {
    if let fragment = validation.fragments[spread.name.text] { return fragment }
    validation.report(.knownFragmentNames, "Unknown fragment '\(spread.name.text)'.", spread.name.location)
    return nil
  }
}
