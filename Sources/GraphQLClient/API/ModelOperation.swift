internal import MartletJSON
internal import MartletVocabulary

/// The documents and inputs of one model's requests. Names follow AppSync's generator, as this package's server does.
struct ModelOperation<M: Model> {
  /// Why a value is not an input.
  struct Problem: Error, CustomStringConvertible {
    var description: String
    init(_ description: String) { self.description = description }
  }

  private let name = ModelNames.capitalized(M.modelName)
  private let fields = ModelFields.all(of: M.self)

  init(_ type: M.Type) {}

  /// The root field of an operation: `createTodo`, `onUpdateTodo`.
  func field(_ verb: String) -> String { verb + name }
  var getField: String { "get" + name }
  var listField: String { "list" + ModelNames.capitalized(M.pluralModelName) }

  var get: String {
    let keys = M.primaryKey.map { key in
      (name: key.stringValue, type: M.keyTypes[key] ?? (key.stringValue == "id" ? "ID" : "String"))
    }
    let declared = keys.map { "$\($0.name): \($0.type)!" }.joined(separator: ", ")
    let given = keys.map { "\($0.name): $\($0.name)" }.joined(separator: ", ")
    return "query Get\(name)(\(declared)) { \(getField)(\(given)) { \(fields) } }"
  }

  var list: String {
    let title = ModelNames.capitalized(listField)
    return """
      query \(title)($filter: Model\(name)FilterInput, $limit: Int, $nextToken: String) \
      { \(listField)(filter: $filter, limit: $limit, nextToken: $nextToken) { items { \(fields) } nextToken } }
      """
  }

  func mutation(_ verb: String, hasCondition: Bool) -> String {
    let title = ModelNames.capitalized(verb)
    let declared = hasCondition ? ", $condition: Model\(name)ConditionInput" : ""
    let given = hasCondition ? ", condition: $condition" : ""
    return """
      mutation \(title)\(name)($input: \(title)\(name)Input!\(declared)) \
      { \(field(verb))(input: $input\(given)) { \(fields) } }
      """
  }

  func subscription(_ event: GraphQLSubscriptionType, isFiltered: Bool, isOwned: Bool) -> String {
    var declared: [String] = []
    var given: [String] = []
    // Named only when given: older servers have neither argument.
    if isFiltered {
      declared.append("$filter: ModelSubscription\(name)FilterInput")
      given.append("filter: $filter")
    }
    if isOwned {
      declared.append("$owner: String")
      given.append("owner: $owner")
    }
    let head = declared.isEmpty ? "" : "(\(declared.joined(separator: ", ")))"
    let arguments = given.isEmpty ? "" : "(\(given.joined(separator: ", ")))"
    let field = field(event.rawValue)
    return "subscription \(ModelNames.capitalized(field))\(head) { \(field)\(arguments) { \(fields) } }"
  }

  /// The writable members of a record: no associations, nothing that only the server writes.
  func input(_ model: M, nulls: Bool) throws -> JSONObject {
    let members = try encoded(model)
    let readOnly = Set(M.readOnly)
    var input = JSONObject()
    for key in M.CodingKeys.allCases where !readOnly.contains(key) {
      switch M.nested[key]?.kind {
      case .record, .connection: continue
      case nil, .embedded: break
      }
      let value = members[key.stringValue] ?? .null
      if nulls || !value.isNull { input[key.stringValue] = value }
    }
    return input
  }

  /// The members that identify a record.
  func key(_ model: M) throws -> JSONObject {
    let members = try encoded(model)
    var key = JSONObject()
    for part in M.primaryKey {
      guard let value = members[part.stringValue] else { throw Problem("\(part.stringValue) of the key is missing") }
      key[part.stringValue] = value
    }
    return key
  }

  func conditioned(_ input: JSONObject, _ predicate: QueryPredicate?) throws -> JSONObject {
    var variables: JSONObject = ["input": .object(input)]
    if let predicate { variables["condition"] = .object(try predicate.filter(.query)) }
    return variables
  }

  private func encoded(_ model: M) throws -> JSONObject {
    guard let members = try JSONEncoding(types: .foundation).encode(model).object else {
      throw Problem("\(M.self) does not encode as an object")
    }
    return members
  }
}
