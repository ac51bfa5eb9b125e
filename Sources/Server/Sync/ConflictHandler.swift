public import MartletJSON

/// Decides what becomes of a write that was made on an older version of its record.
///
/// ```swift
/// configuration.conflictHandlers["Note"] = ConflictHandler { conflict in
///   conflict.newItem == nil ? .reject : .resolve(["text": conflict.newItem?["text"] ?? .null])
/// }
/// ```
public struct ConflictHandler: Sendable {
  let resolve: @Sendable (WriteConflict) throws -> ConflictResolution

  /// A handler. It runs on the store's writer and cannot wait for anything; what it throws refuses the write.
  public init(_ resolve: @escaping @Sendable (WriteConflict) throws -> ConflictResolution) {
    self.resolve = resolve
  }
}

/// A write and the record it was not made for.
public struct WriteConflict: Sendable {
  /// The model's name.
  public let modelName: String
  /// The mutation's name.
  public let fieldName: String
  /// The stored record, with `_version`.
  public let existingItem: JSONObject
  /// The stored record with the write's fields; nil for a deletion.
  public let newItem: JSONObject?
  /// The version that the caller wrote on; nil when it gave none.
  public let expectedVersion: Int64?
}

/// What becomes of such a write.
public enum ConflictResolution: Sendable {
  /// These fields are written. Fields of the key and fields that are not here stay.
  case resolve(JSONObject)
  /// The write is refused, with the stored record.
  case reject
  /// The record is deleted.
  case remove
}
