internal import MartletJSON

/// Gives objects that come back from a Swift type what the type left out: their type's name, key fields that only the
/// store asked for, and the nulls that encoding leaves out.
struct TypeAdoption {
  let defaultKeys: [String]
  let keys: [String: [String]]

  /// What stood at a place: as the store has it, and as the Swift type wrote it before the change. What it did not
  /// write then it either does not have or wrote as nil.
  struct Old {
    var stored: JSONValue
    var shown: JSONValue
  }

  /// Objects that stood at one place before: the elements of a list, or one.
  private struct Before {
    /// Siblings that are looked at to learn which types stand here; more would say the same.
    static let sample = 16
    var objects: [(stored: JSONObject, shown: JSONObject)]
    /// By key fields; of several with equal keys the first.
    var places: [[JSONValue]: Int] = [:]
  }

  /// `new` with what it lacks, from what stood at the same place before.
  func adopt(_ new: JSONValue, from old: [Old]) -> JSONValue {
    switch new {
    case .null, .bool, .int, .uint, .double, .string: return new
    case .array(let elements):
      let flat = old.flatMap(Self.elements)
      // Lists of lists are compared list by list, lists of objects by keys.
      if case .array? = elements.first { return .array(elements.map { adopt($0, from: flat) }) }
      let before = before(flat)
      return .array(elements.indices.map { adopt(elements[$0], at: $0, before) })
    case .object: return adopt(new, at: 0, before(old), isAlone: old.count == 1)
    }
  }

  private static func elements(_ old: Old) -> [Old] {
    let shown = old.shown.array ?? []
    return (old.stored.array ?? []).enumerated().map { index, stored in
      Old(stored: stored, shown: shown.indices.contains(index) ? shown[index] : .null)
    }
  }

  private func before(_ values: [Old]) -> Before {
    var before = Before(
      objects: values.compactMap { value in
        value.stored.object.map { (stored: $0, shown: value.shown.object ?? JSONObject()) }
      })
    for (index, object) in before.objects.enumerated() {
      if let key = key(of: object.stored, like: object.stored), before.places[key] == nil { before.places[key] = index }
    }
    return before
  }

  /// - Parameter isAlone: whether there is one place for one object, so that it is the same one where nothing else is
  ///   said.
  private func adopt(_ new: JSONValue, at index: Int, _ before: Before, isAlone: Bool = false) -> JSONValue {
    guard let object = new.object else { return new }
    var place = place(of: object, at: index, before)
    if place == nil, isAlone, let only = before.objects.first, keyNames(only.stored).allSatisfy({ object[$0] == nil }) {
      place = 0
    }
    let siblings = place.map { [before.objects[$0]] } ?? Array(before.objects.prefix(Before.sample))
    var result = JSONObject()
    for (name, value) in object {
      // Of the object itself if it was there, else of its siblings, which show what types stand here.
      let old = siblings.compactMap { sibling in
        sibling.stored[name].map { Old(stored: $0, shown: sibling.shown[name] ?? .null) }
      }
      result[name] = adopt(value, from: old)
    }
    if result["__typename"] == nil {
      let names = Set(siblings.compactMap { $0.stored["__typename"] })
      if let only = names.first, names.count == 1 { result["__typename"] = only }
      // Key fields that only the store asked for.
      if let place {
        let twin = before.objects[place].stored
        for name in keyNames(twin) where result[name] == nil { result[name] = twin[name] }
      }
    }
    addNulls(to: &result, siblings, isNew: place == nil)
    return .object(result)
  }

  /// Swift leaves nil out where a server says null. A member that was written before and is not now has become nil; a
  /// new object's is nil where the others' were written, or were all null.
  private func addNulls(
    to result: inout JSONObject, _ siblings: [(stored: JSONObject, shown: JSONObject)], isNew: Bool
  ) {
    let type = result["__typename"]
    let alike = siblings.filter { $0.stored["__typename"] == type }
    for name in alike.flatMap({ $0.stored.map(\.key) }) where result[name] == nil && name != "__typename" {
      let isWritten = alike.contains { $0.shown[name] != nil }
      let isNull = isNew && alike.allSatisfy { $0.stored[name]?.isNull ?? true }
      if isWritten || isNull { result[name] = JSONValue.null }
    }
  }

  /// Where the object with the same key was: at the same place first, since objects of different types can have equal
  /// keys.
  private func place(of new: JSONObject, at index: Int, _ before: Before) -> Int? {
    if before.objects.indices.contains(index) {
      let old = before.objects[index].stored
      if let key = key(of: old, like: old), self.key(of: new, like: old) == key { return index }
    }
    guard let some = before.objects.first, let key = key(of: new, like: some.stored) else { return nil }
    return before.places[key]
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
