import MartletGraphQLLanguage

extension OperationPlan {
  /// The names of the root fields that the document selects, whatever conditions they stand under.
  package var rootFields: Set<String> {
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
    find(in: operation.selectionSet)
    return found
  }
}
