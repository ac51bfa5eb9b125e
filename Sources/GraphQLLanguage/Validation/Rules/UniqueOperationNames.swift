/// No two operations have the same name.
enum UniqueOperationNames {
  static func check(_ operations: [OperationDefinition], _ validation: Validation) {
    guard operations.count > 1 else { return }
    var first: [String: Name] = [:]
    for name in operations.compactMap(\.name) {
      if let known = first[name.text] {
        validation.report(
          .uniqueOperationNames, "There can be only one operation named '\(name.text)'.", known.location, name.location)
      } else {
        first[name.text] = name
      }
    }
  }
}
