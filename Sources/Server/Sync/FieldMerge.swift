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
  ///   the caller added to a list are appended then, and a member of an embedded value that still holds what the caller
  ///   replaces is written, as a field is.
  static func merged(stored: JSONValue, incoming: JSONValue, replaced: JSONValue?) -> JSONValue {
    switch (stored, incoming) {
    case (.null, _): return incoming
    case (.array(let elements), .array(let added)):
      return .array(elements + FieldValue.elements(added, without: replaced?.array ?? []))
    case (.object(let members), .object(let others)):
      var merged = members
      let known = replaced?.object
      for name in others.map(\.key) + (known?.map(\.key) ?? []).filter({ others[$0] == nil }) {
        // What a caller that knows the members does not send of them it has set to null. What it sends as it was stays.
        let (value, old) = (others[name] ?? .null, known.map { $0[name] ?? .null })
        let member = members[name] ?? .null
        if let old, FieldValue.areSame(old, value) { continue }
        guard let old, FieldValue.holds(member, old) else {
          merged[name] = self.merged(stored: member, incoming: value, replaced: old)
          continue
        }
        merged[name] = FieldValue.written(value, over: member, knowing: old)
      }
      return .object(merged)
    case (_, _): return stored
    }
  }
}
