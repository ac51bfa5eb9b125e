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

  static let document = """
    query ImportTarget($create: String!) {
      create: __type(name: $create) { inputFields { name type { ...Type } } }
      write: __type(name: "ModelWriteInput") { inputFields { name type { name } } }
      query: __type(name: "Query") { fields { name type { name } args { name type { kind } } } }
      types: __schema { types { name kind } }
    }
    fragment Type on __Type { kind name ofType { kind name ofType { kind name ofType { kind name } } } }
    """

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
    fields = inputs.compactMap { input in
      guard let name = input["name"]?.string, let type = InputType(introspected: input["type"]) else { return nil }
      return Field(name: name, type: type)
    }
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
}
