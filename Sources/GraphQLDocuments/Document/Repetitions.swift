/// Finds names that occur more than once.
package enum Repetitions {
  /// Calls `report` once for each name that occurs several times, with all its places.
  package static func find(_ names: [Name], _ report: (String, [Location]) -> Void) {
    guard names.count > 1 else { return }
    if names.count <= 8 {
      // A handful of names is compared faster than hashed.
      var isUnique = true
      for index in 1..<names.count {
        for other in 0..<index where names[other].text == names[index].text { isUnique = false }
      }
      if isUnique { return }
    }
    var places: [String: [Location]] = [:]
    for name in names { places[name.text, default: []].append(name.location) }
    for name in names {
      if let locations = places.removeValue(forKey: name.text), locations.count > 1 { report(name.text, locations) }
    }
  }
}
