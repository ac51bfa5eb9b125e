package import MartletJSON

/// Which values a stored field may hold, as far as values that were written under another schema can break it: the
/// values of an enum, the members that an embedded value must have, and whether a list may hold null.
package indirect enum ValueDomain: Sendable, Hashable {
  /// Every value of the field's storage.
  case any
  /// One of these names.
  case names([String])
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
      guard let text = value.string, !names.contains(where: { $0.utf8.elementsEqual(text.utf8) }) else { return nil }
      return "\(text)\(Self.place(path)) is no longer a value of its enum"
    case .list(let element, let allowsNull):
      for (index, item) in (value.array ?? []).enumerated() {
        if item.isNull, !allowsNull { return "element \(index)\(Self.place(path)) is null" }
        if let problem = element.problem(item, at: "\(path)[\(index)]") { return problem }
      }
      return nil
    case .object(let members):
      for member in members {
        let inner = path.isEmpty ? member.name : "\(path).\(member.name)"
        let value = value[member.name] ?? .null
        if value.isNull, member.isRequired { return "\(inner) is missing" }
        if let problem = member.domain.problem(value, at: inner) { return problem }
      }
      return nil
    }
  }

  private static func place(_ path: String) -> String { path.isEmpty ? "" : " in \(path)" }

  /// The same domain, `any` when nothing is excluded.
  package var simplified: ValueDomain {
    switch self {
    case .list(.any, allowsNull: true): .any
    case .object(let members) where members.isEmpty: .any
    case .any, .names, .list, .object: self
    }
  }
}
