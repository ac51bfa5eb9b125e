import MartletCommandLine
import MartletJSON

/// What the server says about the model that rows go into.
struct ImportTarget {
  struct Field {
    let name: String
    let type: InputType
  }

  let model: String
  /// The fields of the model's create input.
  let fields: [Field]
  /// The members of `ModelWriteInput` that create and update this model.
  let createMember: String
  let updateMember: String?
  /// The query field that reads one record, and its arguments: the primary key.
  let getField: String?
  let keys: [String]
  /// The members of the input objects that fields hold, by the objects' names; empty until `readObjects`.
  private(set) var objects: [String: [Field]] = [:]
  /// Rounds of questions for objects within objects.
  private static let deepestObject = 8

  static let document = """
    query ImportTarget($create: String!) {
      create: __type(name: $create) { inputFields { name type { ...Type } } }
      write: __type(name: "ModelWriteInput") { inputFields { name type { name } } }
      query: __type(name: "Query") { fields { name type { name } args { name type { kind } } } }
      types: __schema { types { name kind } }
    }

    """ + typeFragment
  private static let typeFragment =
    "fragment Type on __Type { kind name ofType { kind name ofType { kind name ofType { kind name } } } }"

  static func variables(model: String) -> JSONObject { ["create": .string("Create\(model)Input")] }

  /// Reads the answer to `document`.
  init(model: String, answer data: JSONValue) throws(CommandFailure) {
    guard let inputs = data["create"]?["inputFields"]?.array else {
      let models = (data["types"]?["types"]?.array ?? []).compactMap { $0["name"]?.string }
        .filter { $0.hasPrefix("Create") && $0.hasSuffix("Input") }.map { String($0.dropFirst(6).dropLast(5)) }
      throw CommandFailure(
        .failure, "The server has no model \(model) that can be created. It has: \(models.joined(separator: ", ")).")
    }
    self.model = model
    fields = Self.fields(inputs)
    let members = data["write"]?["inputFields"]?.array ?? []
    func member(_ verb: String) -> String? {
      members.first { $0["type"]?["name"]?.string == "\(verb)\(model)Input" }?["name"]?.string
    }
    guard let create = member("Create") else {
      throw CommandFailure(.failure, "The server does not take \(model) in transactions, which import needs.")
    }
    createMember = create
    updateMember = member("Update")
    let get = (data["query"]?["fields"]?.array ?? []).first {
      $0["type"]?["name"]?.string == model && $0["name"]?.string == "get\(model)"
    }
    getField = get?["name"]?.string
    keys = (get?["args"]?.array ?? []).compactMap { $0["name"]?.string }
  }

  private static func fields(_ inputs: [JSONValue]) -> [Field] {
    inputs.compactMap { input in
      guard let name = input["name"]?.string, let type = InputType(introspected: input["type"]) else { return nil }
      return Field(name: name, type: type)
    }
  }

  // MARK: Objects

  /// Reads the members of objects that fields hold, which a question for existing records must name.
  ///
  /// - Parameter perform: Sends a query and returns its data.
  mutating func readObjects(
    _ perform: (_ document: String) async throws -> JSONValue
  ) async throws {
    var asked: Set<String> = []
    for _ in 0..<Self.deepestObject {
      let names = Set((fields + objects.values.joined()).compactMap(\.type.objectName)).subtracting(asked).sorted()
      if names.isEmpty { return }
      asked.formUnion(names)
      let types = names.enumerated().map { "t\($0): __type(name: \"\($1)\") { inputFields { name type { ...Type } } }" }
      let data = try await perform("{ " + types.joined(separator: " ") + " } " + Self.typeFragment)
      for (index, name) in names.enumerated() {
        objects[name] = Self.fields(data["t\(index)"]?["inputFields"]?.array ?? [])
      }
    }
  }

  /// How a query selects the whole value of a field; nil when that is not known, so that values cannot be compared.
  func selection(of name: String) -> String? {
    guard let field = fields.first(where: { $0.name == name }) else { return nil }
    return selection(of: field, within: [])
  }

  private func selection(of field: Field, within outer: Set<String>) -> String? {
    guard let object = field.type.objectName else { return field.name }
    // A value of an object that holds itself may be of any depth.
    guard !outer.contains(object), let members = objects[object], !members.isEmpty else { return nil }
    let inner = members.map { selection(of: $0, within: outer.union([object])) }
    guard !inner.contains(nil) else { return nil }
    return "\(field.name) { \(inner.compactMap { $0 }.joined(separator: " ")) }"
  }
}
