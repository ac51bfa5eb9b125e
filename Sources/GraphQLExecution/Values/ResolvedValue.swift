public import MartletJSON

/// What a resolver answers: a JSON value, a list, an object of the program's own, or nothing.
///
/// A field that has no resolver of its own reads its value from here: the member of a JSON object, the property of a
/// `ResolvedObject`, or the slot of a stored record.
public struct ResolvedValue: Sendable {
  package enum Content: Sendable {
    case null
    case json(JSONValue)
    case list([ResolvedValue])
    /// The first items of a list, and where the rest comes from.
    case partial([ResolvedValue], SourceEvents)
    case record(RecordValue)
    case object(any ResolvedObject)
  }

  package var content: Content
  /// The object type this value has, where the field's type is an interface or a union.
  package var typeName: String?

  package init(_ content: Content, typeName: String? = nil) {
    self.content = content
    self.typeName = typeName
  }

  /// No value.
  public static var null: ResolvedValue { ResolvedValue(.null) }

  /// A JSON value. `type` names its object type where the field's type is an interface or a union; without it the
  /// member `__typename` decides.
  public static func value(_ json: JSONValue, type: String? = nil) -> ResolvedValue {
    ResolvedValue(.json(json), typeName: type)
  }

  /// A list of values.
  public static func list(_ values: [ResolvedValue]) -> ResolvedValue {
    ResolvedValue(.list(values))
  }

  /// An object of the program's own, asked for the properties that were selected and for no others.
  public static func object(_ object: any ResolvedObject) -> ResolvedValue {
    ResolvedValue(.object(object))
  }

  /// A record whose fields are read by position.
  package static func record(_ record: RecordValue) -> ResolvedValue {
    ResolvedValue(.record(record))
  }

  /// Whether this is the null value in either form.
  public var isNull: Bool {
    switch content {
    case .null: return true
    case .json(let value):
      if case .null = value { return true }
      return false
    case .list, .partial, .record, .object: return false
    }
  }

  /// The value as JSON, when it is a JSON value; null for null.
  public var json: JSONValue? {
    switch content {
    case .null: return .null
    case .json(let value): return value
    case .list(let values):
      var items: [JSONValue] = []
      items.reserveCapacity(values.count)
      for value in values {
        guard let item = value.json else { return nil }
        items.append(item)
      }
      return .array(items)
    case .partial, .record, .object: return nil
    }
  }
}

/// An object that answers for its own fields, so that a program can serve its types without turning them into JSON.
///
/// Properties are read wherever the operation runs, one call per selected field; they should be cheap.
public protocol ResolvedObject: Sendable {
  /// The name of the object's GraphQL type; needed where a field's type is an interface or a union.
  var typeName: String? { get }
  /// The value of `field`, or null when the object has no such property.
  func value(of field: String) -> ResolvedValue
}

extension ResolvedObject {
  /// Nil: the type has to follow from the field.
  public var typeName: String? { nil }
}

/// A stored record as the executor reads it: its values by position. The plan knows each field's position, so
/// selecting a field is an array access.
package struct RecordValue: Sendable {
  package var typeName: String
  package var slots: [JSONValue]
  /// Values that are kept beside the record's own: slot -1 is the first.
  package var stamps: [JSONValue]
  /// Whatever the server wants to find again when it resolves a relation of this record.
  package var attachment: (any Sendable)?

  package init(
    typeName: String, slots: [JSONValue], stamps: [JSONValue] = [], attachment: (any Sendable)? = nil
  ) {
    self.typeName = typeName
    self.slots = slots
    self.stamps = stamps
    self.attachment = attachment
  }

  /// The value in a slot; nil when the record has no such slot.
  package subscript(slot slot: Int) -> JSONValue? {
    if slot >= 0 { return slot < slots.count ? slots[slot] : nil }
    return -1 - slot < stamps.count ? stamps[-1 - slot] : nil
  }
}
