import MartletServer

/// Accepts callers by API key, and asks the program about each of them as well.
enum AdmitCallers {
  /// `file` is the text of an access file.
  static func configure(_ configuration: inout ServerConfiguration, file: String) throws {
    configuration.access = .keys(try AccessFile(file))
    configuration.onConnect = { request in
      let user = request.payload["user"]?.string ?? ""
      guard !user.isEmpty else { return .refuse("Say who you are.") }
      return .accept(as: Identity(provider: .function, subject: user), validFor: .seconds(3_600))
    }
  }
}
