extension SelectionSet {
  /// The names of the fields that a selection has at its first level, whatever conditions they stand under, those of
  /// its fragments included.
  package func fieldNames(_ fragments: [String: FragmentDefinition]) -> Set<String> {
    var found: Set<String> = []
    var visited: Set<String> = []
    func find(in selectionSet: SelectionSet) {
      for selection in selectionSet.selections {
        switch selection {
        case .field(let field): found.insert(field.name.text)
        case .inlineFragment(let fragment): find(in: fragment.selectionSet)
        case .fragmentSpread(let spread):
          guard visited.insert(spread.name.text).inserted, let fragment = fragments[spread.name.text] else { continue }
          find(in: fragment.selectionSet)
        }
      }
    }
    find(in: self)
    return found
  }
}
