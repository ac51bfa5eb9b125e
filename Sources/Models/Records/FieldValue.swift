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

  /// Whether a field holds what a client knows of it that may lack members of the field's embedded values.
  package static func holds(_ stored: JSONValue, _ known: JSONValue) -> Bool {
    switch (stored, known) {
    case (.array(let stored), .array(let known)):
      stored.count == known.count && zip(stored, known).allSatisfy(holds)
    case (.object(let stored), .object(let known)): known.allSatisfy { holds(stored[$0] ?? .null, $1) }
    case (_, _): ValueOrder.areEqual(stored, known)
    }
  }

  /// A new value of a field that is written over a stored one by a client that knows a part of it: members that the
  /// client does not know stay.
  package static func written(_ new: JSONValue, over stored: JSONValue, knowing known: JSONValue) -> JSONValue {
    switch (new, stored, known) {
    case (.object(let members), .object(let stored), .object(let known)):
      var written = members
      for (name, value) in stored {
        guard let before = known[name] else {
          if (members[name] ?? .null).isNull { written[name] = value }
          continue
        }
        if let member = members[name] { written[name] = self.written(member, over: value, knowing: before) }
      }
      return .object(written)
    case (.array(let elements), .array(let stored), .array(let known)) where stored.count == known.count:
      return .array(
        elements.map { element in known.firstIndex { areSame($0, element) }.map { stored[$0] } ?? element })
    case (_, _, _): return new
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
