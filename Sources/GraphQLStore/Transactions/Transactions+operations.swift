public import MartletCore
internal import MartletJSON

extension ReadTransaction {
  /// The data of a query.
  /// - Throws: `missingData` when the store does not have all of it.
  public func read<Query: GraphQLQuery>(_ query: Query) throws -> Query.Data {
    try read(
      Query.operationDocument, variables: query.variables, operationName: Query.operationName, as: Query.Data.self)
  }
}

extension ReadWriteTransaction {
  /// Reads a query's data, lets `change` change them, and writes them again.
  ///
  /// Types that do not carry `__typename` get it back: an object has the type of the one with the same key fields at the
  /// same place before, else the type that all objects there had.
  /// - Throws: `missingData`, and what `change` throws.
  public func update<Query: GraphQLQuery>(
    _ query: Query, _ change: (inout Query.Data) throws -> Void
  ) throws where Query.Data: Encodable {
    let document = Query.operationDocument
    var data = try read(query)
    try change(&data)
    let new = try JSONEncoding(types: .foundation).encode(data)
    let keys = core.configuration.defaultKeyFields
    try update(document, variables: query.variables, operationName: Query.operationName) { object in
      let old = JSONValue.object(object)
      object =
        TypeAdoption(defaultKeys: keys, keys: core.configuration.keyFields).adopt(new, from: [old]).object ?? object
    }
  }
}

/// Gives objects that lost their type's name the one they had.
struct TypeAdoption {
  let defaultKeys: [String]
  let keys: [String: [String]]

  /// Objects that stood at one place before: the elements of a list, or one.
  private struct Before {
    /// Siblings that are looked at to learn which types stand here; more would say the same.
    static let sample = 16
    var objects: [JSONObject]
    /// By key fields; of several with equal keys the first.
    var places: [[JSONValue]: Int] = [:]
  }

  /// `new` with type names from `old`: what stood at the same place before.
  func adopt(_ new: JSONValue, from old: [JSONValue]) -> JSONValue {
    switch new {
    case .null, .bool, .int, .uint, .double, .string: return new
    case .array(let elements):
      let flat = old.flatMap { $0.array ?? [] }
      // Lists of lists are compared list by list, lists of objects by keys.
      if case .array? = elements.first { return .array(elements.map { adopt($0, from: flat) }) }
      let before = before(flat)
      return .array(elements.indices.map { adopt(elements[$0], at: $0, before) })
    case .object: return adopt(new, at: 0, before(old))
    }
  }

  private func before(_ values: [JSONValue]) -> Before {
    var before = Before(objects: values.compactMap(\.object))
    for (index, object) in before.objects.enumerated() {
      if let key = key(of: object, like: object), before.places[key] == nil { before.places[key] = index }
    }
    return before
  }

  private func adopt(_ new: JSONValue, at index: Int, _ before: Before) -> JSONValue {
    guard let object = new.object else { return new }
    let twin = twin(of: object, at: index, before)
    let siblings = twin.map { [$0] } ?? Array(before.objects.prefix(Before.sample))
    var result = JSONObject()
    for (name, value) in object {
      // Of the object itself if it was there, else of its siblings, which show what types stand here.
      result[name] = adopt(value, from: siblings.compactMap { $0[name] })
    }
    if result["__typename"] == nil {
      let names = Set(siblings.compactMap { $0["__typename"] })
      if let only = names.first, names.count == 1 { result["__typename"] = only }
      // Key fields that only the store asked for.
      if let twin { for name in keyNames(twin) where result[name] == nil { result[name] = twin[name] } }
    }
    return .object(result)
  }

  /// The object with the same key: at the same place first, since objects of different types can have equal keys.
  private func twin(of new: JSONObject, at index: Int, _ before: Before) -> JSONObject? {
    if before.objects.indices.contains(index) {
      let old = before.objects[index]
      if let key = key(of: old, like: old), self.key(of: new, like: old) == key { return old }
    }
    guard let some = before.objects.first, let key = key(of: new, like: some), let place = before.places[key] else {
      return nil
    }
    return before.objects[place]
  }

  /// The values of the key fields that `old`'s type has; nil when one lacks.
  private func key(of object: JSONObject, like old: JSONObject) -> [JSONValue]? {
    let values = keyNames(old).map { object[$0] }
    let present = values.compactMap { $0 }
    return present.isEmpty || present.count < values.count ? nil : present
  }

  private func keyNames(_ object: JSONObject) -> [String] {
    object["__typename"]?.string.flatMap { keys[$0] } ?? defaultKeys
  }
}
