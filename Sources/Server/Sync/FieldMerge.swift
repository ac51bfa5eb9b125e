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
      return .array(elements + without(replaced?.array ?? [], added))
    case (.object(let members), .object(let others)):
      var merged = members
      for (name, value) in others {
        merged[name] = self.merged(stored: members[name] ?? .null, incoming: value, replaced: replaced?[name])
      }
      return .object(merged)
    case (_, _): return stored
    }
  }

  /// `elements` without those of `known`, each as often as it is in `known`.
  private static func without(_ known: [JSONValue], _ elements: [JSONValue]) -> [JSONValue] {
    var known = known
    return elements.filter { element in
      guard let place = known.firstIndex(where: { areSame($0, element) }) else { return true }
      known.remove(at: place)
      return false
    }
  }

  /// Whether a stored value is the one that a client says it replaces. A client has the value as queries show it:
  /// numbers may be written differently, and members of an embedded value that were never given are null.
  static func areSame(_ stored: JSONValue, _ value: JSONValue) -> Bool {
    switch (stored, value) {
    case (.array(let left), .array(let right)):
      left.count == right.count && zip(left, right).allSatisfy(areSame)
    case (.object(let left), .object(let right)):
      left.allSatisfy { areSame($1, right[$0] ?? .null) }
        && right.allSatisfy { left[$0] != nil || $1.isNull }
    case (_, _): ValueOrder.areEqual(stored, value)
    }
  }
}
