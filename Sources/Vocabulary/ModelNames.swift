/// How names are formed from a model's: by the server that generates operations, and by the client that asks for them.
package enum ModelNames {
  /// The English plural as Amplify's transformer forms it: `Flight` gives `Flights`, `City` gives `Cities`, `Settings`
  /// stays. A model takes other names with `@model(queries: {list: "…"})`.
  package static func plural(_ name: String) -> String { Plural.of(name) }

  /// The name with its first letter in upper case.
  package static func capitalized(_ name: String) -> String {
    name.prefix(1).uppercased() + name.dropFirst()
  }

  /// The name with its first letter in lower case.
  package static func uncapitalized(_ name: String) -> String {
    name.prefix(1).lowercased() + name.dropFirst()
  }
}
