internal import MartletJSON
internal import MartletModels

/// AppSync's automatic merge of one field.
enum FieldMerge {
  /// What a field holds after a write of `incoming` that did not know the stored value.
  ///
  /// A stored value stays, and one that is absent is written. The elements of a list are appended, also those that are
  /// there already; embedded values are merged member by member.
  ///
  /// - Parameter replaced: what the field held when the caller wrote it, where that is known: only the elements that
  ///   the caller added to a list are appended then.
  static func merged(stored: JSONValue, incoming: JSONValue, replaced: JSONValue?) -> JSONValue {
    switch (stored, incoming) {
    case (.null, _): return incoming
    case (.array(let elements), .array(let added)):
      return .array(elements + FieldValue.elements(added, without: replaced?.array ?? []))
    case (.object(let members), .object(let others)):
      var merged = members
      for (name, value) in others {
        merged[name] = self.merged(stored: members[name] ?? .null, incoming: value, replaced: replaced?[name])
      }
      return .object(merged)
    case (_, _): return stored
    }
  }
}
