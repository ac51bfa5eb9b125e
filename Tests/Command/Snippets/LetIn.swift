import MartletServer

/// The guides' question to a program: which callers it accepts, and as whom.
enum LetIn {
  static func configure(_ configuration: inout ServerConfiguration) {
    configuration.onConnect = { request in
      let token = request.payload["authToken"]?.string
      return token == "So long" ? .accept() : .refuse("Sign in first")
    }
  }

  /// Stands for whatever knows the program's users.
  protocol Names: Sendable {
    func name(of token: String) async -> String?
  }

  static func identify(_ configuration: inout ServerConfiguration, names: some Names) {
    configuration.access = .onConnect()
    configuration.onConnect = { request in
      let token = request.payload["Authorization"]?.string ?? ""
      guard let name = await names.name(of: token) else { return .refuse("Sign in first") }
      return .accept(
        as: Identity(provider: .function, subject: name, groups: ["readers"]), validFor: .seconds(3_600))
    }
    configuration.resolvers = { resolvers in
      resolvers.resolve("Query", "greeting") { request in "Hello \(request.identity.subject ?? "stranger")" }
    }
  }
}
