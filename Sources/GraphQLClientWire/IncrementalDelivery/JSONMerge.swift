import MartletJSON

/// Changes inside JSON values, in place: a value that is taken out leaves null behind, so that what is changed has one
/// owner and no list or object is copied.
enum JSONMerge {
  /// Changes what is at a path; false when there is nothing, or `body` says that it does not fit.
  static func change(
    _ value: inout JSONValue, _ path: ArraySlice<JSONValue>, _ body: (inout JSONValue) -> Bool
  ) -> Bool {
    guard let step = path.first else { return body(&value) }
    switch (value, step) {
    case (.object(var object), .string(let name)):
      guard var inner = object[name] else { return false }
      value = .null
      object[name] = .null
      let isDone = change(&inner, path.dropFirst(), body)
      object[name] = inner
      value = .object(object)
      return isDone
    case (.array(var list), .int(let place)):
      guard let index = Int(exactly: place), list.indices.contains(index) else { return false }
      value = .null
      var inner = JSONValue.null
      swap(&inner, &list[index])
      let isDone = change(&inner, path.dropFirst(), body)
      swap(&inner, &list[index])
      value = .array(list)
      return isDone
    case (.null, _), (.bool, _), (.int, _), (.uint, _), (.double, _), (.string, _), (.array, _), (.object, _):
      return false
    }
  }

  /// Adds the members of an object to another, objects and lists within them member by member. Anything else takes the
  /// place of what was there.
  @discardableResult
  static func merge(_ more: JSONValue, into value: inout JSONValue) -> Bool {
    switch (value, more) {
    case (.object(var object), .object(let members)):
      value = .null
      for (name, new) in members {
        guard var old = object[name] else {
          object[name] = new
          continue
        }
        object[name] = .null
        merge(new, into: &old)
        object[name] = old
      }
      value = .object(object)
    case (.array(var list), .array(let elements)):
      value = .null
      for (index, new) in elements.enumerated() {
        if index < list.count { merge(new, into: &list[index]) } else { list.append(new) }
      }
      value = .array(list)
    case (_, .null), (_, .bool), (_, .int), (_, .uint), (_, .double), (_, .string), (_, .array), (_, .object):
      value = more
    }
    return true
  }

  /// Appends to a list, which must end where the items begin; nil begins at its end.
  static func append(_ items: [JSONValue], at start: Int64?, to value: inout JSONValue) -> Bool {
    guard case .array(var list) = value, start.map({ $0 == Int64(list.count) }) ?? true else { return false }
    value = .null
    list += items
    value = .array(list)
    return true
  }
}
