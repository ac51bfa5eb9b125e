/// A directive stands once in a place, unless it is repeatable.
enum UniqueDirectivesPerLocation {
  static func check(_ directives: [Directive], _ validation: Validation) {
    guard directives.count > 1 else { return }
    var first: [String: Location] = [:]
    for directive in directives {
      let name = directive.name.text
      guard let definition = validation.schema.directive(name), !definition.isRepeatable else { continue }
      if let known = first[name] {
        validation.report(
          .uniqueDirectivesPerLocation, "The directive '@\(name)' can only be used once at this location.", known,
          directive.location)
      } else {
        first[name] = directive.location
      }
    }
  }
}
