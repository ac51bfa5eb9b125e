package import MartletJSON

/// What client and server have to agree on when they compare what fields hold.
package enum FieldValue {
  /// Whether a field that holds one value holds the other. Numbers may be written differently, and members of an
  /// embedded value that were never given are null: a client has a value as queries show it.
  package static func areSame(_ left: JSONValue, _ right: JSONValue) -> Bool {
    switch (left, right) {
    case (.array(let left), .array(let right)):
      left.count == right.count && zip(left, right).allSatisfy(areSame)
    case (.object(let left), .object(let right)):
      left.allSatisfy { areSame($1, right[$0] ?? .null) }
        && right.allSatisfy { left[$0] != nil || $1.isNull }
    case (_, _): ValueOrder.areEqual(left, right)
    }
  }

  /// The elements of a list without those of another, each as often as it is in the other.
  package static func elements(_ elements: [JSONValue], without known: [JSONValue]) -> [JSONValue] {
    var known = known
    return elements.filter { element in
      guard let place = known.firstIndex(where: { areSame($0, element) }) else { return true }
      known.remove(at: place)
      return false
    }
  }
}
