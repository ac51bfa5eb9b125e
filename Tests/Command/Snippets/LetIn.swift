import MartletServer

/// The guide's question to a program: who may connect.
enum LetIn {
  static func configure(_ configuration: inout ServerConfiguration) {
    configuration.onConnect = { request in
      let token = request.payload["authToken"]?.string
      return token == "So long" ? .accept() : .refuse("Sign in first")
    }
  }
}
