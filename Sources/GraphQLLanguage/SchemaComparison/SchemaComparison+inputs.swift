extension SchemaComparison {
  /// Compares arguments or input fields; `path` makes the path of one from its name.
  mutating func compareInputs(
    _ before: [SchemaInput], _ after: [SchemaInput], _ subject: String, path: (String) -> String
  ) {
    for input in before where !after.contains(where: { $0.name == input.name }) {
      add(.breaking, path(input.name), "The \(subject) \(path(input.name)) was removed")
    }
    for input in after {
      let path = path(input.name)
      guard let known = before.first(where: { $0.name == input.name }) else {
        if input.isRequired {
          add(.breaking, path, "The required \(subject) \(path) was added")
        } else {
          add(.dangerous, path, "The optional \(subject) \(path) was added")
        }
        continue
      }
      compareDescription(known.description, input.description, path)
      compareDeprecation(known.deprecationReason, input.deprecationReason, path)
      compareInputType(known.type, input.type, path)
      if known.defaultValue != input.defaultValue {
        let (from, to) = (Self.text(known.defaultValue), Self.text(input.defaultValue))
        let isRequiredNow = input.isRequired && !known.isRequired
        add(
          isRequiredNow ? .breaking : .dangerous, path, "The default of \(path) changed from \(from) to \(to)")
      }
    }
  }

  mutating func compareDirectives() {
    for directive in old.directives where new.directive(directive.name) == nil {
      add(.breaking, "@\(directive.name)", "The directive @\(directive.name) was removed")
    }
    for directive in new.directives {
      let path = "@\(directive.name)"
      guard let known = old.directive(directive.name) else {
        add(.safe, path, "The directive \(path) was added")
        continue
      }
      compareDescription(known.description, directive.description, path)
      compareInputs(known.arguments, directive.arguments, "argument") { "\(path)(\($0):)" }
      if known.isRepeatable, !directive.isRepeatable { add(.breaking, path, "\(path) is repeatable no more") }
      if !known.isRepeatable, directive.isRepeatable { add(.safe, path, "\(path) is repeatable now") }
      for location in known.locations where !directive.locations.contains(location) {
        add(.breaking, path, "\(path) may no longer be used on \(location.words)")
      }
      for location in directive.locations where !known.locations.contains(location) {
        add(.safe, path, "\(path) may be used on \(location.words) now")
      }
    }
  }

  /// A field's type may become narrower: what clients can receive they knew how to receive.
  mutating func compareOutput(_ before: WrappedType, _ after: WrappedType, _ path: String) {
    report(before, after, path, isSafe: narrows(before, after))
  }

  /// An input's type may become wider: what clients send is still taken.
  private mutating func compareInputType(_ before: WrappedType, _ after: WrappedType, _ path: String) {
    report(before, after, path, isSafe: widens(before, after))
  }

  private mutating func report(_ before: WrappedType, _ after: WrappedType, _ path: String, isSafe: Bool) {
    let (from, to) = (old.describe(before), new.describe(after))
    guard from != to else { return }
    add(isSafe ? .safe : .breaking, path, "The type of \(path) changed from \(from) to \(to)")
  }

  private func narrows(_ before: WrappedType, _ after: WrappedType) -> Bool {
    if after.isNonNull { return narrows(before.nullable, after.nullable) }
    if before.isNonNull { return false }
    if let element = before.element {
      guard let newElement = after.element else { return false }
      return narrows(element, newElement)
    }
    guard after.isNamed else { return false }
    let (wide, narrow) = (old[before.named], new[after.named])
    if wide.name == narrow.name { return true }
    guard let wideNow = new.type(wide.name), wideNow.isAbstract else { return false }
    return new.isSubtype(WrappedType(narrow.id), of: WrappedType(wideNow.id))
  }

  private func widens(_ before: WrappedType, _ after: WrappedType) -> Bool {
    if after.isNonNull { return before.isNonNull && widens(before.nullable, after.nullable) }
    if before.isNonNull { return widens(before.nullable, after) }
    if let element = after.element {
      // A single value stands for a list of one.
      return widens(before.element ?? before, element)
    }
    return before.isNamed && old[before.named].name == new[after.named].name
  }

  private static func text(_ value: Value?) -> String {
    value.map { Printer.text(of: $0) } ?? "nothing"
  }
}
