internal import MartletJSON

/// Gives objects that a program wrote without `__typename` the type that the configured schema says stands there, so
/// that the first object of a list needs no sibling to learn from.
struct SchemaTypes {
  let context: BindingContext

  /// The data of an operation with the type names that the schema knows.
  func completed(_ data: JSONObject) -> JSONObject {
    guard let root = context.binder.knowledge.root(of: context.operation.root) else { return data }
    return object(data, context.operation.selection, on: root)
  }

  private func object(_ object: JSONObject, _ selection: BoundSelection, on typename: String) -> JSONObject {
    var result = object
    let typed = selection.fields(on: selection.isRoot ? nil : typename, data: nil, context)
    for field in typed.fields {
      guard let inner = field.selection, let value = object[field.responseKey] else { continue }
      let name = String(field.field.text.prefix { $0 != "(" })
      result[field.responseKey] = self.value(value, inner, context.binder.knowledge.type(of: name, on: typename))
    }
    return result
  }

  private func value(_ value: JSONValue, _ selection: BoundSelection, _ typename: String?) -> JSONValue {
    switch value {
    case .array(let elements): return .array(elements.map { self.value($0, selection, typename) })
    case .object(var object):
      if object["__typename"] == nil, let typename { object["__typename"] = .string(typename) }
      guard let known = object["__typename"]?.string else { return value }
      return .object(self.object(object, selection, on: known))
    case .null, .bool, .int, .uint, .double, .string: return value
    }
  }
}
