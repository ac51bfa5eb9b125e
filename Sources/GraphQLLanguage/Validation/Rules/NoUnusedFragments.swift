/// Every fragment is reached by some operation.
enum NoUnusedFragments {
  static func check(_ validation: Validation) {
    let spreads = validation.operations.flatMap(\.facts.spreads)
    let used = Set(validation.fragmentNames(reachableFrom: Validation.Facts(spreads: spreads)))
    for fragment in validation.document.fragments where !used.contains(fragment.name.text) {
      validation.report(
        .noUnusedFragments, "Fragment '\(fragment.name.text)' is never used.", fragment.location)
    }
  }
}
