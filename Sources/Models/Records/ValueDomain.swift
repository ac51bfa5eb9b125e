package import MartletJSON

/// Which values a stored field may hold, as far as values that were written under another schema can break it: the
/// values of an enum, the members that an embedded value must have and their types, and whether a list may hold null.
package indirect enum ValueDomain: Sendable, Hashable {
  /// Every value of the field's storage.
  case any
  /// One of these names.
  case names([String])
  /// A member of an embedded value; what a field's own values are, its column says.
  case scalar(ScalarKind)
  case list(of: ValueDomain, allowsNull: Bool)
  case object([Member])

  /// A member of an embedded value.
  package struct Member: Sendable, Hashable {
    package var name: String
    package var domain: ValueDomain
    package var isRequired: Bool

    package init(name: String, domain: ValueDomain, isRequired: Bool) {
      self.name = name
      self.domain = domain
      self.isRequired = isRequired
    }
  }

  /// Why a value is outside of the domain, with its path below the field; nil when it is inside. Null is inside:
  /// whether a field may be null is not the domain's concern.
  package func problem(_ value: JSONValue, at path: String = "") -> String? {
    if value.isNull { return nil }
    switch self {
    case .any: return nil
    case .names(let names):
      if let text = value.string, names.contains(where: { $0.utf8.elementsEqual(text.utf8) }) { return nil }
      return "\(Self.shown(value))\(Self.place(path)) is no longer a value of its enum"
    case .scalar(let kind):
      return kind.accepts(value) ? nil : "\(Self.shown(value))\(Self.place(path)) is not of the type \(kind.rawValue)"
    case .list(let element, let allowsNull):
      guard let items = value.array else { return "\(Self.shown(value))\(Self.place(path)) is not a list" }
      for (index, item) in items.enumerated() {
        if item.isNull, !allowsNull { return "element \(index)\(Self.place(path)) is null" }
        if let problem = element.problem(item, at: "\(path)[\(index)]") { return problem }
      }
      return nil
    case .object(let members):
      guard value.object != nil else { return "\(Self.shown(value))\(Self.place(path)) is not an object" }
      for member in members {
        let inner = path.isEmpty ? member.name : "\(path).\(member.name)"
        let value = value[member.name] ?? .null
        if value.isNull, member.isRequired { return "\(inner) is missing" }
        if let problem = member.domain.problem(value, at: inner) { return problem }
      }
      return nil
    }
  }

  /// A value in a message.
  private static func shown(_ value: JSONValue) -> String {
    if value.array != nil { return "a list" }
    if value.object != nil { return "an object" }
    return value.string ?? String(decoding: value.serialized(), as: UTF8.self)
  }

  private static func place(_ path: String) -> String { path.isEmpty ? "" : " in \(path)" }

  /// The same domain, `any` when nothing is excluded.
  package var simplified: ValueDomain {
    switch self {
    case .list(.any, allowsNull: true): .any
    case .object(let members) where members.isEmpty: .any
    case .any, .names, .scalar, .list, .object: self
    }
  }
}
