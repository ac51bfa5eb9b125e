import MartletServer

/// Every caller sees its own notes, and staff all of them; the program says who the caller is.
enum OwnNotes {
  static let schema = """
    type Note @model @auth(rules: [
      { allow: owner }
      { allow: groups, groups: ["staff"], operations: [read] }
    ]) {
      id: ID!
      text: String
    }
    """

  static func configuration(
    caller: @escaping @Sendable (String) async -> (name: String, groups: [String])?
  ) -> ServerConfiguration {
    var configuration = ServerConfiguration(schema: schema)
    configuration.access = .onConnect()
    configuration.onConnect = { request in
      let token = request.payload["Authorization"]?.string ?? ""
      guard let caller = await caller(token) else { return .refuse("Sign in first.") }
      return .accept(as: Identity(provider: .function, subject: caller.name, groups: caller.groups))
    }
    return configuration
  }
}
