import MartletAccess
import MartletGraphQLLanguage
internal import MartletModels

/// Reads `@auth` of one type.
struct AccessReader {
  private let type: TypeDefinition
  private var model: ModelDefinition
  private var complaints: Complaints

  /// The `@auth` rules of a type and its fields. An owner field that the type does not have is added.
  static func read(_ type: TypeDefinition, _ model: inout ModelDefinition, _ complaints: inout Complaints) {
    var reader = AccessReader(type: type, model: model, complaints: complaints)
    reader.read()
    model = reader.model
    complaints = reader.complaints
  }

  private mutating func read() {
    if let directive = type.directive("auth") {
      model.access.rules = rules(directive)
    }
    for field in type.fields {
      guard let directive = field.directive("auth") else { continue }
      let rules = rules(directive)
      if field.isRelation {
        model.access.relationRules[field.name.text] = rules
      } else if let position = model.position(of: field.name.text) {
        // A hidden value is null, which the field must allow.
        if model.fields[position].isRequired {
          complaints.add("\(model.name).\(field.name.text) has @auth and so must be nullable.", at: directive.location)
        }
        model.access.fieldRules[position] = rules
      }
    }
  }

  private mutating func rules(_ directive: Directive) -> [AccessRule] {
    let values: [Value] =
      switch directive.argument("rules")?.kind {
      case .list(let values)?: values
      // A single value stands for a list of one.
      case .object?: directive.argument("rules").map { [$0] } ?? []
      case .variable?, .int?, .float?, .string?, .boolean?, .null?, .enumeration?, nil: []
      }
    return values.compactMap { rule($0, at: directive.location) }
  }

  private mutating func rule(_ value: Value, at location: Location) -> AccessRule? {
    guard let allow = value["allow"]?.enumeration else { return nil }
    refuseUnread(value, allow, at: location)
    guard let subject = subject(value, allow, at: location) else { return nil }
    guard let providers = providers(value, allow, at: location) else { return nil }
    var operations = Set(AccessOperation.allCases)
    if let list = value["operations"], !list.isNull {
      operations = []
      for name in list.enumerations { operations.formUnion(AccessOperation.named(name) ?? []) }
      if operations.isEmpty {
        complaints.add("A rule of \(model.name) allows no operation.", at: location)
        return nil
      }
    }
    return AccessRule(subject: subject, providers: providers, operations: operations, place: location.place)
  }

  private mutating func subject(_ value: Value, _ allow: String, at location: Location) -> AccessRule.Subject? {
    switch allow {
    case "owner":
      let name = value["ownerField"]?.string ?? "owner"
      let claim = OwnerClaim(value["identityClaim"]?.string)
      guard let position = namingField(name, "ownerField", adds: true, at: location) else { return nil }
      return .owner(field: position, isList: model.fields[position].isList, claim: claim)
    case "groups":
      let claim = value["groupClaim"]?.string
      if let names = value["groups"]?.strings {
        guard value["groupsField"] == nil, !names.isEmpty, !names.contains("") else {
          complaints.add("A rule of \(model.name) needs either groups or a groupsField.", at: location)
          return nil
        }
        return .groups(names, claim: claim)
      }
      let name = value["groupsField"]?.string ?? "groups"
      guard let position = namingField(name, "groupsField", adds: false, at: location) else { return nil }
      return .groupsField(position, isList: model.fields[position].isList, claim: claim)
    case "private": return .private
    case "public": return .public
    case "custom": return .custom
    default: return nil
    }
  }

  /// The position of a text field that names callers or groups.
  private mutating func namingField(
    _ name: String, _ argument: String, adds: Bool, at location: Location
  ) -> Int? {
    if name.contains(".") || type.fields.contains(where: { $0.name.text == name && $0.isRelation }) {
      complaints.add(
        "A rule of \(model.name) crosses a relation: \(argument) \"\(name)\". Rules read the record's own fields.",
        at: location)
      return nil
    }
    guard let position = model.position(of: name) else {
      // A misspelt field must not become one that is never filled; the default's name is known to be meant.
      guard adds, name == "owner" else {
        complaints.add(
          "A rule of \(model.name) has the \(argument) \"\(name)\", which is not a stored field.", at: location)
        return nil
      }
      model.fields.append(
        ModelField(
          name: name, columnName: name, kind: .scalar(.string), isRequired: false, place: type.location.place))
      return model.fields.count - 1
    }
    let base = model.fields[position].filterBase
    guard base == .string || base == .id else {
      complaints.add("A rule of \(model.name) has the \(argument) \"\(name)\", which is not text.", at: location)
      return nil
    }
    return position
  }

  /// Arguments that the kind of rule does not read would be a misunderstanding, and access wider than meant.
  private mutating func refuseUnread(_ value: Value, _ allow: String, at location: Location) {
    let read: [String: Set<String>] = [
      "owner": ["ownerField", "identityClaim"], "groups": ["groups", "groupsField", "groupClaim"],
    ]
    for name in ["ownerField", "identityClaim", "groups", "groupsField", "groupClaim"]
    where value[name].map({ !$0.isNull }) ?? false && !(read[allow]?.contains(name) ?? false) {
      complaints.add("A rule of \(model.name) has \(name), which \"allow: \(allow)\" does not read.", at: location)
    }
  }

  private mutating func providers(
    _ value: Value, _ allow: String, at location: Location
  ) -> Set<IdentityProvider>? {
    let signedIn: Set<IdentityProvider> = [.userPools, .oidc, .function]
    let (common, possible): (Set<IdentityProvider>, Set<IdentityProvider>) =
      switch allow {
      case "owner", "groups": (signedIn, signedIn)
      case "private": (signedIn.union([.iam, .identityPool]), signedIn.union([.iam, .identityPool]))
      case "custom": ([.function], [.function])
      default: (Set(IdentityProvider.allCases).subtracting([.system]), [.apiKey, .iam, .identityPool])
      }
    guard let name = value["provider"]?.enumeration else { return common }
    guard let provider = IdentityProvider(rawValue: name), possible.contains(provider) else {
      complaints.add("A rule of \(model.name) cannot have the provider \(name) with \"allow: \(allow)\".", at: location)
      return nil
    }
    return [provider]
  }
}

extension Value {
  fileprivate var enumeration: String? {
    if case .enumeration(let name) = kind { name } else { nil }
  }

  fileprivate var enumerations: [String] {
    if case .list(let values) = kind { values.compactMap(\.enumeration) } else { enumeration.map { [$0] } ?? [] }
  }
}
