internal import MartletJSON

/// Leaves out of a server's data what only the store asked for, so that results have the shape their author wrote.
struct Projector {
  private let context: BindingContext

  init(_ operation: BoundOperation, _ binder: Binder) {
    context = BindingContext(operation: operation, binder: binder)
  }

  func project(_ data: JSONValue) -> JSONValue {
    context.operation.hasAddedFields ? value(data, context.operation.selection) : data
  }

  private func value(_ json: JSONValue, _ selection: BoundSelection) -> JSONValue {
    switch json {
    case .null, .bool, .int, .uint, .double, .string: return json
    case .array(let elements): return .array(elements.map { value($0, selection) })
    case .object(let object):
      let typed = selection.fields(
        on: selection.isRoot ? nil : object["__typename"]?.string, data: object, context)
      var members: [JSONObject.Element] = []
      members.reserveCapacity(typed.fields.count)
      for (index, field) in typed.fields.enumerated() where !field.isHidden {
        guard let json = object.value(named: field.responseKey, near: index) else { continue }
        members.append((field.responseKey, field.selection.map { value(json, $0) } ?? json))
      }
      return .object(JSONObject(distinct: members))
    }
  }
}
