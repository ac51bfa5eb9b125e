internal import MartletGraphQLLanguage
package import MartletModels

extension ModelSchema {
  /// The domain of a stored field's values.
  package func domain(of field: ModelField) -> ValueDomain {
    let single: ValueDomain
    switch field.kind {
    case .scalar: single = .any
    case .enumeration(_, let values): single = .names(values)
    case .embedded(let name): single = schema.type(name).map { embedded($0, within: []) } ?? .any
    }
    return field.isList ? ValueDomain.list(of: single, allowsNull: !field.isElementRequired).simplified : single
  }

  /// The domain of an embedded type. A type inside itself is not followed.
  private func embedded(_ type: NamedType, within outer: Set<String>) -> ValueDomain {
    guard type.kind == .object, !outer.contains(type.name) else { return .any }
    let outer = outer.union([type.name])
    let members = type.fields.compactMap { field -> ValueDomain.Member? in
      let domain = domain(of: field.type, within: outer)
      guard field.type.isNonNull || domain != .any else { return nil }
      return ValueDomain.Member(name: field.name, domain: domain, isRequired: field.type.isNonNull)
    }
    return ValueDomain.object(members).simplified
  }

  private func domain(of type: WrappedType, within outer: Set<String>) -> ValueDomain {
    if let element = type.element {
      return ValueDomain.list(of: domain(of: element, within: outer), allowsNull: !element.isNonNull).simplified
    }
    let named = schema[type.named]
    switch named.kind {
    case .enumeration: return .names(named.enumValues.map(\.name))
    case .object: return embedded(named, within: outer)
    case .scalar: return ScalarKind(rawValue: named.name).map(domain(of:)) ?? .any
    case .interface, .union, .inputObject: return .any
    }
  }

  /// The domain of an embedded value's member. JSON text may stand for any value.
  private func domain(of scalar: ScalarKind) -> ValueDomain { scalar == .awsJSON ? .any : .scalar(scalar) }
}
