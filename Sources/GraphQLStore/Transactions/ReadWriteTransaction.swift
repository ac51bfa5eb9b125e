public import MartletJSON

/// Changes of a store that happen together or, when the closure throws, not at all.
public final class ReadWriteTransaction: ReadTransaction {
  /// Writes the data of an operation, as if a server had sent them. Objects need `__typename` and their key fields to
  /// be recognised.
  public func write(
    _ data: JSONValue, for document: String, variables: JSONObject = JSONObject(), operationName: String? = nil
  ) throws {
    try check()
    let operation = try core.bind(
      StoreOperation(document: document, operationName: operationName, variables: variables))
    var normalizer = Normalizer(operation, core.binder)
    try normalizer.write(data)
    overlay.apply(normalizer.changes)
  }

  /// Writes the data of a fragment on one record, which is made if there is none.
  public func writeFragment(
    _ data: JSONValue, for document: String, on key: CacheKey, variables: JSONObject = JSONObject(),
    fragmentName: String? = nil
  ) throws {
    try check()
    let operation = try core.bindFragment(document, fragmentName, variables)
    let typename = try record(key)?.typename
    var normalizer = Normalizer(operation, core.binder)
    try normalizer.write(data, to: key, typename: typename)
    overlay.apply(normalizer.changes)
  }

  /// Reads a query's data, lets `change` change them, and writes them again. The data have `__typename` and key fields
  /// beside what the document selects.
  ///
  /// ```swift
  /// try transaction.update("{ departures { id line } }") { data in
  ///   let new: JSONValue = ["__typename": "Flight", "id": "9", "line": "RJ 60"]
  ///   data["departures"] = .array((data["departures"]?.array ?? []) + [new])
  /// }
  /// ```
  /// - Throws: `missingData` when the store does not have all of it, or when what `change` made of it lacks something,
  ///   such as the `__typename` of an object that was appended to an empty list, where the configured schema does not
  ///   say its type; it names the first missing field, and nothing is written. What `change` throws.
  public func update(
    _ document: String, variables: JSONObject = JSONObject(), operationName: String? = nil,
    _ change: (inout JSONObject) throws -> Void
  ) throws {
    let operation = try core.bind(
      StoreOperation(document: document, operationName: operationName, variables: variables))
    guard var object = try data(operation, includesHidden: true).object else { return }
    try change(&object)
    object = SchemaTypes(context: BindingContext(operation: operation, binder: core.binder)).completed(object)
    var normalizer = Normalizer(operation, core.binder)
    try normalizer.write(.object(object))
    let before = overlay
    overlay.apply(normalizer.changes)
    do {
      // What was written can be read and updated again, or it is not written.
      _ = try data(operation, includesHidden: true)
    } catch {
      overlay = before
      throw error
    }
  }

  /// Sets leaf fields of one record, by their names in the schema; the record is made if there is none.
  public func setFields(_ fields: JSONObject, of key: CacheKey) throws {
    try check()
    var record = CacheRecord()
    for (name, value) in fields { record[CacheField(name)] = .leaf(value) }
    overlay.apply([.merge(key, record)])
  }

  /// Removes a record. Lists keep their reference to it, so that queries that show it lack data.
  public func remove(_ key: CacheKey) throws {
    try check()
    overlay.apply([.remove(key)])
  }
}
