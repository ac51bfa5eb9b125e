package import MartletAccess
internal import MartletJSON

/// One rule of an `@auth` directive: who may do what with the records that it holds for.
package struct AccessRule: Sendable, Hashable {
  /// Which callers a rule means.
  package enum Subject: Sendable, Hashable {
    /// Callers that a field of the record names.
    case owner(field: Int, isList: Bool, claim: OwnerClaim)
    /// Callers in one of these groups.
    case groups([String], claim: String?)
    /// Callers in a group that a field of the record names.
    case groupsField(Int, isList: Bool, claim: String?)
    /// Every caller that proved its identity.
    case `private`
    /// Every caller.
    case `public`
    /// Every caller that a custom authorizer accepted.
    case custom
  }

  package var subject: Subject
  /// The providers whose callers it means.
  package var providers: Set<IdentityProvider>
  package var operations: Set<AccessOperation>
  package var place: DefinitionPlace

  package init(
    subject: Subject, providers: Set<IdentityProvider>, operations: Set<AccessOperation>, place: DefinitionPlace
  ) {
    self.subject = subject
    self.providers = providers
    self.operations = operations
    self.place = place
  }

  /// The records for which the rule holds when `identity` performs `operation`.
  package func predicate(for operation: AccessOperation, by identity: Identity) -> Predicate {
    guard operations.contains(operation), providers.contains(identity.provider) else { return .none }
    return records(of: identity)
  }

  /// The records for which the rule holds for a caller of one of its providers, in each of its operations.
  func records(of identity: Identity) -> Predicate {
    switch subject {
    case .private, .public, .custom: return .all
    case .groups(let names, let claim):
      let isMember = Self.groups(of: identity, claim).contains { group in
        names.contains { $0.hasSameBytes(as: group) }
      }
      return isMember ? .all : .none
    case .groupsField(let field, let isList, let claim):
      return Self.names(Self.groups(of: identity, claim), in: field, isList: isList)
    case .owner(let field, let isList, let claim):
      return Self.names(claim.values(of: identity), in: field, isList: isList)
    }
  }

  /// The groups that a claim states, else those of the identity. Empty names are none.
  private static func groups(of identity: Identity, _ claim: String?) -> [String] {
    guard let claim else { return identity.groups.filter { !$0.isEmpty } }
    switch identity.claims[claim] {
    case .string(let name)?: return name.isEmpty ? [] : [name]
    case .array(let list)?: return list.compactMap(\.string).filter { !$0.isEmpty }
    case .null?, .bool?, .int?, .uint?, .double?, .object?, nil: return []
    }
  }

  private static func names(_ names: [String], in field: Int, isList: Bool) -> Predicate {
    if names.isEmpty { return .none }
    let values = names.map { JSONValue.string($0) }
    if !isList, values.count == 1 { return .compare(field: field, .eq(values[0])) }
    if isList { return Predicate.or(values.map { .compare(field: field, .contains($0)) }).canonical }
    return Predicate.compare(field: field, .in(values)).canonical
  }
}

/// The claim by which an owner is known, as `identityClaim` names it.
package struct OwnerClaim: Sendable, Hashable {
  /// Names of claims; several are joined by `::` in the record, and each alone is accepted as well.
  package var names: [String]
  /// Whether the schema names none, so that the provider decides: `sub::username` for user pools, else the subject.
  package var isDefault: Bool

  package init(_ text: String?) {
    isDefault = text == nil
    names = Self.parts(of: text ?? "sub::username")
  }

  /// The texts in a record that name the caller. The first is the one that is stored.
  package func values(of identity: Identity) -> [String] {
    if isDefault, identity.provider != .userPools { return Self.text(identity.subject) }
    let parts = names.map { Self.value($0, of: identity) }
    let known = parts.compactMap { $0 }
    if known.count == names.count, names.count > 1 { return [known.joined(separator: "::")] + known }
    return known
  }

  private static func parts(of text: String) -> [String] {
    var parts: [String] = [""]
    var rest = Array(text)[...]
    while let character = rest.first {
      if character == ":", rest.dropFirst().first == ":" {
        parts.append("")
        rest = rest.dropFirst(2)
      } else {
        parts[parts.count - 1].append(character)
        rest = rest.dropFirst()
      }
    }
    return parts
  }

  private static func value(_ name: String, of identity: Identity) -> String? {
    if name == "sub", let subject = text(identity.subject).first { return subject }
    let claim = identity.claims[name] ?? (name == "username" ? identity.claims["cognito:username"] : nil)
    return text(claim?.string).first
  }

  private static func text(_ value: String?) -> [String] {
    value.map { $0.isEmpty ? [] : [$0] } ?? []
  }
}
