package import MartletJSON

/// A node of the result tree: a finished value, or a place that is still waited for.
package enum ResultValue: Sendable {
  case null
  case bool(Bool)
  case int(Int64)
  case double(Double)
  case string(String)
  case json(JSONValue)
  case object(ResultContainer)
  case list(ResultContainer)
  /// Waits for a resolver.
  case pending
}

/// The fields of an object or the items of a list in the result tree.
///
/// A tree of objects rather than bytes, so that a part can be filled in when its resolver answers, removed when a null
/// travels upwards, or later sent on its own (`@defer`). `@unchecked Sendable` holds because a tree belongs to one
/// `Execution`, which is confined to one task or loop, and is only read once that has finished.
package final class ResultContainer: @unchecked Sendable {
  /// The fields whose values these are; nil for a list.
  package let selection: SelectionPlan?
  package var values: [ResultValue]

  /// An object whose fields are all waited for.
  package init(_ selection: SelectionPlan) {
    self.selection = selection
    values = Array(repeating: .pending, count: selection.fields.count)
  }

  /// An object whose values are put in when all are known.
  init(unfilled selection: SelectionPlan) {
    self.selection = selection
    values = []
  }

  /// An empty list.
  package init(capacity: Int) {
    selection = nil
    values = []
    values.reserveCapacity(capacity)
  }
}

extension ResultValue {
  /// Whether this node is `container`.
  func holds(_ container: ResultContainer) -> Bool {
    switch self {
    case .object(let held), .list(let held): held === container
    case .null, .bool, .int, .double, .string, .json, .pending: false
    }
  }

  /// Items of a list by whose length room is made for the others.
  private static let measuredItems = 16

  /// Writes the finished value. A place still waited for is null: the operation was cut short.
  package func write(to writer: inout JSONWriter) {
    switch self {
    case .null, .pending: writer.null()
    case .bool(let flag): writer.bool(flag)
    case .int(let number): writer.int(number)
    case .double(let number): writer.double(number)
    case .string(let text): writer.string(text)
    case .json(let value): writer.value(value)
    case .list(let list):
      writer.beginArray()
      let start = writer.bytes.count
      for index in list.values.indices {
        if index == Self.measuredItems { writer.makeRoom(for: list.values.count - index, since: start, index) }
        list.values[index].write(to: &writer)
      }
      writer.endArray()
    case .object(let object):
      writer.beginObject()
      if let fields = object.selection?.fields {
        // By position, since an iterator would hand out a copy of each value.
        for index in object.values.indices {
          writer.encodedKey(fields[index].encodedName)
          object.values[index].write(to: &writer)
        }
      }
      writer.endObject()
    }
  }

  /// The finished value as JSON.
  package var json: JSONValue {
    switch self {
    case .null, .pending: return .null
    case .bool(let flag): return .bool(flag)
    case .int(let number): return .int(number)
    case .double(let number): return .double(number)
    case .string(let text): return .string(text)
    case .json(let value): return value
    case .list(let list): return .array(list.values.map(\.json))
    case .object(let object):
      var result = JSONObject()
      if let selection = object.selection {
        for (index, value) in object.values.enumerated() { result[selection.fields[index].responseName] = value.json }
      }
      return .object(result)
    }
  }
}
