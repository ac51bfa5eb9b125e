/// No two fragments have the same name.
enum UniqueFragmentNames {
  static func check(_ validation: Validation) {
    var first: [String: Name] = [:]
    for fragment in validation.document.fragments {
      let name = fragment.name
      if let known = first[name.text] {
        validation.report(
          .uniqueFragmentNames, "There can be only one fragment named '\(name.text)'.", known.location, name.location)
      } else {
        first[name.text] = name
      }
    }
  }
}
