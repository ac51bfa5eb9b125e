import MartletServer

/// A login server in the program itself: a name and a password become a token, which opens every door for an hour.
/// Tokens are random and kept in memory, so they end with the program.
actor OwnLogin {
  struct Caller: Sendable {
    var name: String
    var groups: [String]
  }

  static let life = Duration.seconds(3_600)
  /// Tokens at a time: each takes memory.
  static let most = 100_000

  private let check: @Sendable (_ name: String, _ password: String) async -> Caller?
  private var sessions: [String: (caller: Caller, end: ContinuousClock.Instant)] = [:]

  /// - Parameter check: Compares the password with what the program keeps of it, such as an Argon2 hash.
  init(check: @escaping @Sendable (_ name: String, _ password: String) async -> Caller?) {
    self.check = check
  }

  /// A token; nil for a wrong name or password.
  func signIn(_ name: String, _ password: String) async -> String? {
    guard let caller = await check(name, password) else { return nil }
    let now = ContinuousClock.now
    if sessions.count >= Self.most { sessions = sessions.filter { $0.value.end > now } }
    guard sessions.count < Self.most else { return nil }
    let token = (1...4).map { _ in String(UInt64.random(in: .min ... .max), radix: 36) }.joined()
    sessions[token] = (caller, now + Self.life)
    return token
  }

  func signOut(_ token: String) { sessions[token] = nil }

  /// The holder of a token, and how long it is one.
  func holder(of token: String) -> (caller: Caller, left: Duration)? {
    guard let session = sessions[token], session.end > .now else { return nil }
    return (session.caller, ContinuousClock.now.duration(to: session.end))
  }

  /// A server with `POST /login` and `POST /logout`, and with the caller behind a token at every other door.
  nonisolated func configuration(schema: String) throws -> ServerConfiguration {
    var configuration = ServerConfiguration(schema: schema)
    configuration.access = .onConnect()
    configuration.onConnect = { request in
      let shown = request.payload["Authorization"]?.string ?? ""
      guard let (caller, left) = await self.holder(of: Self.token(in: shown)) else { return .refuse("Sign in first.") }
      return .accept(
        as: Identity(provider: .function, subject: caller.name, groups: caller.groups), validFor: left)
    }
    configuration.endpoints = [
      try ServerEndpoint("/login", methods: ["POST"], access: .open, bodyBytes: 4_096) { request, response in
        let body = try? JSONValue(parsing: request.body)
        guard let name = body?["name"]?.string, let password = body?["password"]?.string,
          let token = await self.signIn(name, password)
        else { return await response.send(401) }
        let answer: JSONValue = ["token": .string(token), "expires_in": .int(Self.life.components.seconds)]
        await response.send(200, headers: [("Content-Type", "application/json")], body: answer.serialized())
      },
      try ServerEndpoint("/logout", methods: ["POST"], access: .identified) { request, response in
        await self.signOut(Self.token(in: request.header("Authorization") ?? ""))
        await response.send(204)
      },
    ]
    return configuration
  }

  private static func token(in field: String) -> String {
    field.hasPrefix("Bearer ") ? String(field.dropFirst(7)) : field
  }
}
