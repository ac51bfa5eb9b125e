import MartletGraphQLLanguage

/// A value that goes to the server: a variable, or a field of an input object.
struct InputShape {
  var name: String
  var property: String
  /// The Swift type.
  var type: String
  /// What stands for "not given"; nil when a value must be given.
  var defaultText: String?
  var description: String?
  var deprecation: String?

  /// - Parameter hasDefault: whether the server fills in a value that is not given.
  init(
    name: String, property: String, type: WrappedType, hasDefault: Bool, description: String? = nil,
    deprecation: String? = nil, schema: Schema, names: TypeNames
  ) {
    self.name = name
    self.property = property
    self.description = description
    self.deprecation = deprecation
    let named = schema[type.named]
    let base = named.kind == .inputObject ? names.schemaType(named.name) : names.leaf(named)
    let value = StructWriter.type(type.nonNull, base, isOptional: false)
    if !type.isNonNull {
      // Absent and null are two things to a server.
      self.type = "GraphQLNullable<\(value)>"
      defaultText = ".none"
    } else if hasDefault {
      // Null is not allowed, so an optional says it all: nil is left out.
      self.type = value + "?"
      defaultText = "nil"
    } else {
      self.type = value
    }
  }

  /// `name: Type = default`.
  var parameter: String {
    "\(SwiftName.escaped(property)): \(type)" + (defaultText.map { " = \($0)" } ?? "")
  }
}
