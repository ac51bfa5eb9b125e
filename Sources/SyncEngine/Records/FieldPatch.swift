package import MartletJSON
package import MartletModels

/// A field that an update changes: the value it replaces, and the new one. A server that stores the replaced value
/// takes the new one; otherwise its strategy decides for this field alone.
package struct FieldPatch: Sendable, Hashable {
  /// The field's position in the model.
  package var field: Int
  package var old: JSONValue
  package var new: JSONValue

  package init(field: Int, old: JSONValue, new: JSONValue) {
    self.field = field
    self.old = old
    self.new = new
  }

  /// Makes the change on another record than the one it was made on.
  package func make(on record: inout Record) {
    if field < record.values.count { record.values[field] = made(on: record.values[field]) }
  }

  /// What the field holds after the same change is made on another value than the one it was made on.
  ///
  /// Elements that the change added to a list are added unless they are there, and those that it removed are removed;
  /// the members of an embedded value that it changed are changed. What others have done to the list or to other
  /// members meanwhile stays. Any other value is replaced.
  package func made(on current: JSONValue) -> JSONValue { Self.made(on: current, old, new) }

  private static func made(on current: JSONValue, _ old: JSONValue, _ new: JSONValue) -> JSONValue {
    switch (current, old, new) {
    case (_, _, _) where FieldValue.areSame(current, old): return new
    case (.array(let elements), .array(let before), .array(let after)):
      let (added, removed) = (
        FieldValue.elements(after, without: before), FieldValue.elements(before, without: after)
      )
      let kept = FieldValue.elements(elements, without: removed)
      // Elements that the list has already: others have added them, or the change was made although it was refused.
      let present = FieldValue.elements(kept, without: before)
      return .array(kept + FieldValue.elements(added, without: present))
    case (.object(let members), .object(let before), .object(let after)):
      var made = members
      for name in after.map(\.key) + before.map(\.key).filter({ after[$0] == nil }) {
        let (was, value) = (before[name] ?? .null, after[name] ?? .null)
        if !FieldValue.areSame(was, value) { made[name] = self.made(on: members[name] ?? .null, was, value) }
      }
      return .object(made)
    case (_, _, _): return new
    }
  }
}
