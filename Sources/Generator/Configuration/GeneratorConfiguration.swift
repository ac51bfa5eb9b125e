/// How operations become Swift, apart from where files are.
package struct GeneratorConfiguration: Hashable, Sendable {
  /// The access level of the generated types.
  package enum Access: String, Hashable, Sendable, CaseIterable {
    case `internal`, package, `public`
  }

  /// The Swift type of a custom scalar.
  package struct Scalar: Hashable, Sendable {
    /// A type that is `Codable`, `Hashable` and `Sendable`.
    package var type: String
    /// The module to import for it, if any.
    package var module: String?

    package init(_ type: String, module: String? = nil) {
      self.type = type
      self.module = module
    }
  }

  /// Default `internal`: smallest, since Swift makes the initialisers.
  package var access: Access
  /// Custom scalars by name. Those not named are `String`, but AWSTimestamp, which is a number on the wire: `Int`.
  package var scalars: [String: Scalar]
  /// Swift names of enums and input objects whose own name is taken.
  package var typeNames: [String: String]
  /// Whether descriptions become documentation comments of operations, fragments, enums and input objects.
  package var descriptions: Bool
  /// Whether everything goes into one file.
  package var isSingleFile: Bool
  /// Whether the schema's models become structs for stores on the device, which need `MartletDataStore`.
  package var models = false
  /// The client's module, which generated files import: `Martlet`, or `MartletHTTP` in programs without WebSockets.
  package var module = "Martlet"

  package init(
    access: Access = .internal, scalars: [String: Scalar] = [:], typeNames: [String: String] = [:],
    descriptions: Bool = true, isSingleFile: Bool = false
  ) {
    self.access = access
    self.scalars = scalars
    self.typeNames = typeNames
    self.descriptions = descriptions
    self.isSingleFile = isSingleFile
  }

  /// Written before a type at the top level, which stays nonisolated even where a module isolates its types by default.
  var typePrefix: String { prefix + "nonisolated " }

  /// What stands before a declaration.
  var prefix: String { access == .internal ? "" : access.rawValue + " " }

  /// The Swift type of the scalar called `name`.
  func scalar(_ name: String) -> Scalar {
    if let mapped = scalars[name] { return mapped }
    switch name {
    case "Int", "AWSTimestamp": return Scalar("Int")
    case "Float": return Scalar("Double")
    case "Boolean": return Scalar("Bool")
    default: return Scalar("String")
    }
  }
}
