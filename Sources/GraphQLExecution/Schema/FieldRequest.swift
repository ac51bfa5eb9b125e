public import MartletAccess
public import MartletGraphQLLanguage
public import MartletJSON

/// What a resolver is asked: one field of one parent.
public struct FieldRequest: Sendable {
  /// The parent's value; the event for a field of the subscription root; null for other root fields.
  public let source: ResolvedValue
  /// The coerced arguments. An argument that was neither given nor has a default is absent.
  public let arguments: JSONObject
  /// What belongs to the whole request.
  public let context: RequestContext
  /// The name of the object type that the field belongs to.
  public let typeName: String
  /// The field's name in the schema.
  public let fieldName: String
  /// Where the field stands in the response.
  public let path: [GraphQLError.PathElement]
  /// The position of each field of the parent, when that is a stored record.
  private let slots: [String: Int]

  package init(
    source: ResolvedValue, arguments: JSONObject, context: RequestContext, typeName: String, fieldName: String,
    path: [GraphQLError.PathElement], slots: [String: Int] = [:]
  ) {
    self.slots = slots
    self.source = source
    self.arguments = arguments
    self.context = context
    self.typeName = typeName
    self.fieldName = fieldName
    self.path = path
  }

  /// The caller of the operation, as the server admitted it; `.guest` where nothing established one.
  public var identity: Identity { context.identity }

  /// The argument called `name`, when it is a string, an ID or an enum value.
  public func string(_ name: String) -> String? {
    if case .string(let text)? = arguments[name] { text } else { nil }
  }

  /// The argument called `name`, when it is an Int.
  public func int(_ name: String) -> Int? {
    if case .int(let number)? = arguments[name] { Int(exactly: number) } else { nil }
  }

  /// The argument called `name`, when it is a Float.
  public func double(_ name: String) -> Double? {
    arguments[name]?.number
  }

  /// The argument called `name`, when it is a Boolean.
  public func bool(_ name: String) -> Bool? {
    if case .bool(let flag)? = arguments[name] { flag } else { nil }
  }

  /// The field `name` of the parent: the member of a JSON object, the stored field of a record of a `@model` type, or
  /// the property of a `ResolvedObject`. Nil when the parent has none.
  public func parent(_ name: String) -> JSONValue? { source.member(name, slots: slots) }
}

/// What a batched resolver is asked: one field of several parents, in one call per level of the response.
public struct BatchRequest: Sendable {
  /// The parents' values. The answer has one value for each, in the same order.
  public let sources: [ResolvedValue]
  /// The coerced arguments, which are the same for all parents.
  public let arguments: JSONObject
  /// What belongs to the whole request.
  public let context: RequestContext
  /// The name of the object type that the field belongs to.
  public let typeName: String
  /// The field's name in the schema.
  public let fieldName: String
  /// The position of each field of the parents, when they are stored records.
  private let slots: [String: Int]

  /// The caller of the operation, as the server admitted it; `.guest` where nothing established one.
  public var identity: Identity { context.identity }

  /// The field `name` of each parent, as `FieldRequest.parent` finds it.
  public func parents(_ name: String) -> [JSONValue?] { sources.map { $0.member(name, slots: slots) } }

  package init(
    sources: [ResolvedValue], arguments: JSONObject, context: RequestContext, typeName: String, fieldName: String,
    slots: [String: Int] = [:]
  ) {
    self.slots = slots
    self.sources = sources
    self.arguments = arguments
    self.context = context
    self.typeName = typeName
    self.fieldName = fieldName
  }
}

extension ResolvedValue {
  /// The value of one field, as JSON.
  fileprivate func member(_ name: String, slots: [String: Int]) -> JSONValue? {
    switch content {
    case .json(.object(let members)): return members[name]
    case .record(let record):
      guard let slot = slots[name] else { return nil }
      return record[slot: slot]
    case .object(let object): return object.value(of: name).json
    case .null, .json, .list, .partial: return nil
    }
  }
}
