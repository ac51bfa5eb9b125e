/// Directives exist and stand where they may.
enum KnownDirectives {
  static func check(
    _ directive: Directive, at location: DirectiveLocation, _ validation: Validation
  ) -> SchemaDirective? {
    let name = directive.name.text
    guard let definition = validation.schema.directive(name) else {
      validation.report(.knownDirectives, "Unknown directive '@\(name)'.", directive.location)
      return nil
    }
    if !definition.locations.contains(location) {
      validation.report(
        .knownDirectives, "Directive '@\(name)' may not be used on \(location.words).", directive.location)
    }
    return definition
  }
}

extension DirectiveLocation {
  /// The location in words: `variable definition`.
  var words: String {
    rawValue.lowercased().split(separator: "_").joined(separator: " ")
  }
}
