/// How names are formed from a model's: by the server that generates operations, and by the client that asks for them.
package enum ModelNames {
  /// The English plural as AppSync's generator forms it for the words schemas use: `Flight` gives `Flights`, `City`
  /// gives `Cities`, `Bus` gives `Buses`. Words that do not follow these rules are named with `@model(queries:)`.
  package static func plural(_ name: String) -> String {
    let lower = name.lowercased()
    for (ending, replacement) in irregular where lower.hasSuffix(ending) {
      let kept = name.dropLast(ending.count)
      let isCapitalized = name.dropFirst(kept.count).first?.isUppercase == true
      return kept + (isCapitalized ? capitalized(replacement) : replacement)
    }
    if lower.hasSuffix("y"), let before = lower.dropLast().last, !"aeiou".contains(before) {
      return name.dropLast() + "ies"
    }
    if ["s", "x", "z", "ch", "sh"].contains(where: { lower.hasSuffix($0) }) { return name + "es" }
    return name + "s"
  }

  private static let irregular: [(String, String)] = [
    ("person", "people"), ("child", "children"), ("woman", "women"), ("man", "men"), ("mouse", "mice"),
    ("foot", "feet"), ("tooth", "teeth"), ("goose", "geese"), ("news", "news"), ("series", "series"),
    ("species", "species"), ("datum", "data"), ("analysis", "analyses"),
  ]

  /// The name with its first letter in upper case.
  package static func capitalized(_ name: String) -> String {
    name.prefix(1).uppercased() + name.dropFirst()
  }

  /// The name with its first letter in lower case.
  package static func uncapitalized(_ name: String) -> String {
    name.prefix(1).lowercased() + name.dropFirst()
  }
}
