package import MartletGraphQLLanguage
package import MartletJSON

/// The fields to execute on an object type, in response order, merged and with all conditions decided
/// (section 6.3.2 "CollectFields").
package final class SelectionPlan: Sendable {
  package let typeName: String
  package let fields: [FieldPlan]
  /// A condition whose variable has no value: executing the selection is this error.
  package let fault: PlanFault?
  /// What is delivered after the rest; nil for nothing.
  package let deferral: DeferralPlan?

  package init(typeName: String, fields: [FieldPlan], fault: PlanFault?, deferral: DeferralPlan? = nil) {
    self.typeName = typeName
    self.fields = fields
    self.fault = fault
    self.deferral = deferral
  }
}

/// An error that is known when planning and reported when executing.
package struct PlanFault: Error, Sendable {
  package var message: String
  package var locations: [SourceLocation]
}

/// One field of a selection.
package final class FieldPlan: Sendable {
  package let responseName: String
  /// `"name":`, encoded.
  package let encodedName: [UInt8]
  package let parentName: String
  package let definition: SchemaField
  package let type: WrappedType
  package let resolver: FieldResolver
  /// The field's position in a stored record of the parent type.
  package let slot: Int?
  /// The positions of the parent's fields, for a resolver that asks for them; empty when the parent is not a record.
  let parentSlots: [String: Int]
  package let arguments: ArgumentPlan
  package let content: FieldContent
  /// Every place where the document selects the field; never empty.
  let places: [CollectedField]
  /// How the list is streamed; nil when it is delivered whole.
  package let stream: StreamPlan?
  /// Whether null may not stand in the field's place.
  let isNonNull: Bool
  /// What a value is coerced by when the field is a single leaf; nil for lists and for types with fields.
  let leaf: LeafShape?

  init(
    responseName: String, parentName: String, definition: SchemaField, resolver: FieldResolver, slot: Int?,
    parentSlots: [String: Int] = [:], arguments: ArgumentPlan, content: FieldContent, places: [CollectedField],
    stream: StreamPlan? = nil
  ) {
    self.responseName = responseName
    encodedName = Self.encodedKey(responseName)
    self.parentName = parentName
    self.definition = definition
    self.resolver = resolver
    self.slot = slot
    self.parentSlots = parentSlots
    self.arguments = arguments
    self.content = content
    self.places = places
    self.stream = stream
    type = definition.type
    isNonNull = definition.type.isNonNull
    if case .leaf(let shape) = content, definition.type.element == nil { leaf = shape } else { leaf = nil }
  }

  package var name: String { definition.name }

  /// The first place where the document selects the field.
  var location: Location { places.first?.node.location ?? .none }

  /// A response name as `JSONWriter.encodedKey` takes it. Names have no character that JSON escapes.
  static func encodedKey(_ name: String) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(name.utf8.count + 3)
    bytes.append(UInt8(ascii: "\""))
    bytes.append(contentsOf: name.utf8)
    bytes.append(UInt8(ascii: "\""))
    bytes.append(UInt8(ascii: ":"))
    return bytes
  }

  package var locations: [SourceLocation] {
    places.compactMap(\.node.location.source)
  }
}

/// What the value of a field consists of.
package enum FieldContent: Sendable {
  case leaf(LeafShape)
  /// `__typename`: known without a resolver.
  case typeName
  case object(SelectionPlan)
  /// By object type. Types left out by the planning limit are planned when a value has them.
  case abstract(NamedType, [String: SelectionPlan])
}

/// Where a field's arguments come from.
package enum ArgumentPlan: Sendable {
  case none
  /// The same for every execution.
  case constant(JSONObject)
  /// Read variables.
  case variable([ArgumentSource])
  /// Never valid.
  case fault(PlanFault)
}

/// One argument that is written in the document or has a default.
package struct ArgumentSource: Sendable {
  package let input: SchemaInput
  package let literal: Value?
}
