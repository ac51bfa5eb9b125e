import MartletModels

/// The models of a schema in the form the generator writes: what their structs have, in order.
struct ModelShape {
  /// A stored property.
  struct Property {
    var name: String
    var property: String
    var type: String
    /// What the property is without a value given; nil when one must be given.
    var defaultText: String?
    var description: String?
    /// The relation that it follows, as a `ModelAssociation`.
    var association: String?
    /// What a request selects of it, as a `ModelSelection`.
    var selection: String?
    /// What records from before the field hold in it, as a literal.
    var storedDefault: String?
  }

  var name: String
  var model: ModelDefinition
  var description: String?
  var properties: [Property]
  /// Names of stored fields that other models' keys need and the struct does not have.
  var hidden: [String]
}
