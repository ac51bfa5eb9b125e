import MartletGraphQLLanguage
package import MartletJSON

/// A subscription's selection that the changed record alone answers: every selected field is one of its slots, or
/// inside a value that one of them holds.
///
/// Writes the payload straight from the slots: no result tree, no task, nothing allocated but what the output buffer
/// needs. The loops use it once per event and group.
package struct RecordSelection: Sendable {
  /// One selected field.
  struct Member: Sendable {
    /// `"name":`, encoded.
    let key: [UInt8]
    let origin: Origin
    let shape: Shape
  }

  enum Origin: Sendable {
    case slot(Int)
    case member(String)
    /// `__typename`, which is known.
    case text([UInt8])
  }

  /// What the value of a field must be, so that it can be written without further ado.
  indirect enum Shape: Sendable {
    case leaf(LeafShape)
    case object([Member])
    case list(Shape)
    case nonNull(Shape)
  }

  private let rootKey: [UInt8]
  private let members: [Member]

  /// The selection of `plan` under the coerced `variables`, or nil when executing it needs more than the record: a
  /// relation, a resolver, an abstract type, a custom scalar of the program's own.
  package init?(_ plan: OperationPlan, variables: JSONObject) {
    let variant = plan.variant(for: variables)
    guard plan.kind == .subscription, !variant.runsUserCode, !variant.isDeferred, variant.selection.fault == nil,
      variant.selection.fields.count == 1, let root = variant.selection.fields.first, !root.type.isList,
      case .parent = root.resolver, case .object(let selection) = root.content,
      let members = Self.members(of: selection, isRecord: true)
    else { return nil }
    rootKey = Self.encodedKey(root.responseName)
    self.members = members
  }

  /// Says what is selected: selections of one schema with equal signatures are interchangeable, so that many
  /// subscriptions that differ only in their filters can keep one.
  package var signature: [UInt8] {
    var bytes = rootKey
    Self.describe(members, into: &bytes)
    return bytes
  }

  private static func describe(_ members: [Member], into bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "{"))
    for member in members {
      bytes += member.key
      switch member.origin {
      case .slot(let slot): bytes += "#\(slot)".utf8
      case .member(let name): bytes += ".\(name)".utf8
      case .text(let text): bytes += text
      }
      describe(member.shape, into: &bytes)
    }
    bytes.append(UInt8(ascii: "}"))
  }

  private static func describe(_ shape: Shape, into bytes: inout [UInt8]) {
    switch shape {
    case .leaf(let leaf): bytes += ":\(leaf.name);".utf8
    case .object(let members): describe(members, into: &bytes)
    case .list(let element):
      bytes.append(UInt8(ascii: "["))
      describe(element, into: &bytes)
    case .nonNull(let inner):
      bytes.append(UInt8(ascii: "!"))
      describe(inner, into: &bytes)
    }
  }

  /// Writes `{"data":{...}}` for a record with these slots and stamps. False when a value does not have the shape its
  /// field promises, such as null where none may stand; the caller then discards what was written and executes the
  /// plan, which finds the words for the errors.
  package func write(_ slots: [JSONValue], stamps: [JSONValue] = [], to writer: inout JSONWriter) -> Bool {
    writer.beginObject()
    writer.encodedKey(Self.dataKey)
    writer.beginObject()
    writer.encodedKey(rootKey)
    writer.beginObject()
    for member in members {
      writer.encodedKey(member.key)
      switch member.origin {
      case .text(let text): writer.raw(text)
      case .slot(let slot):
        let place = slot < 0 ? -1 - slot : slot
        let values = slot < 0 ? stamps : slots
        guard place < values.count, Self.write(values[place], member.shape, to: &writer) else { return false }
      case .member: return false
      }
    }
    writer.endObject()
    writer.endObject()
    writer.endObject()
    return true
  }

  private static func write(_ value: JSONValue, _ shape: Shape, to writer: inout JSONWriter) -> Bool {
    if case .nonNull(let inner) = shape {
      if case .null = value { return false }
      return write(value, inner, to: &writer)
    }
    if case .null = value {
      writer.null()
      return true
    }
    switch shape {
    case .leaf(let leaf): return write(value, leaf, to: &writer)
    case .object(let members):
      guard case .object(let object) = value else { return false }
      writer.beginObject()
      for member in members {
        writer.encodedKey(member.key)
        switch member.origin {
        case .text(let text): writer.raw(text)
        case .member(let name):
          guard write(object[name] ?? .null, member.shape, to: &writer) else { return false }
        case .slot: return false
        }
      }
      writer.endObject()
      return true
    case .list(let element):
      guard case .array(let items) = value else { return false }
      writer.beginArray()
      for item in items {
        guard write(item, element, to: &writer) else { return false }
      }
      writer.endArray()
      return true
    case .nonNull: return false
    }
  }

  private static func write(_ value: JSONValue, _ leaf: LeafShape, to writer: inout JSONWriter) -> Bool {
    switch (leaf, value) {
    case (.string, .string(let text)), (.id, .string(let text)): writer.string(text)
    case (.boolean, .bool(let flag)): writer.bool(flag)
    case (.float, .double(let number)) where number.isFinite: writer.double(number)
    case (.float, .int(let number)): writer.int(number)
    case (.int, .int(let number)):
      guard Int32(exactly: number) != nil else { return false }
      writer.int(number)
    case (.enumeration(let shape), .string(let text)):
      guard shape.contains(text) else { return false }
      writer.string(text)
    case (.custom(_, let rules), _):
      guard let result = try? rules.serialize(value), result != .null else { return false }
      writer.value(result)
    default: return false
    }
    return true
  }

  private static let dataKey = encodedKey("data")

  private static func encodedKey(_ name: String) -> [UInt8] {
    FieldPlan.encodedKey(name)
  }

  private static func members(of selection: SelectionPlan, isRecord: Bool) -> [Member]? {
    guard selection.fault == nil else { return nil }
    var result: [Member] = []
    for field in selection.fields {
      let key = encodedKey(field.responseName)
      if case .typeName = field.content {
        let text = JSONValue.string(field.parentName).serialized()
        result.append(Member(key: key, origin: .text(text), shape: .leaf(.string)))
        continue
      }
      guard case .property = field.resolver, let shape = shape(of: field, field.type) else { return nil }
      if isRecord {
        guard let slot = field.slot else { return nil }
        result.append(Member(key: key, origin: .slot(slot), shape: shape))
      } else {
        result.append(Member(key: key, origin: .member(field.name), shape: shape))
      }
    }
    return result
  }

  private static func shape(of field: FieldPlan, _ type: WrappedType) -> Shape? {
    if type.isNonNull { return shape(of: field, type.nullable).map { .nonNull($0) } }
    if let element = type.element { return shape(of: field, element).map { .list($0) } }
    switch field.content {
    case .leaf(let leaf): return .leaf(leaf)
    case .object(let selection): return members(of: selection, isRecord: false).map { .object($0) }
    case .typeName, .abstract: return nil
    }
  }
}
