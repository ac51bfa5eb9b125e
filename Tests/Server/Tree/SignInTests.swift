import MartletJSON
import MartletServer
import Testing

/// `POST /signIn`: the server's own tokens for anonymous users and for custom tokens.
@Suite struct SignInTests {
  private static let rules = """
    {"rules": {
      "users": {"$uid": {".read": "auth.uid == $uid", ".write": "auth.uid == $uid"}},
      "anonymous": {".read": "auth.provider == 'anonymous'"},
      "paying": {".read": "auth.provider == 'custom' && auth.token.plan == 'gold'"}
    }}
    """
  private static let secret = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY"

  private func serve(_ signIn: String, _ body: (Int) async throws -> Void) async throws {
    let file = #"{"keys": [], "guests": false, "tokens": [], "signIn": \#(signIn)}"#
    try await Served.with(
      "type Note @model { id: ID! }",
      {
        $0.treeRules = Self.rules
        $0.access = .keys(try AccessFile(file))
      }
    ) { try await body($0.port) }
  }

  private func signIn(_ body: String, _ port: Int) async throws -> HTTPRequest.Answer {
    try await HTTPRequest.send("POST", "/signIn", port: port, headers: [], body: body)
  }

  private func status(_ method: String, _ path: String, _ token: String, _ port: Int) async throws -> Int {
    try await HTTPRequest.send(
      method, path, port: port, headers: [("Authorization", "Bearer \(token)")], body: method == "PUT" ? "1" : nil
    ).status
  }

  @Test func `an anonymous user gets a name, and what the rules give it`() async throws {
    try await serve(#"{"secret": "\#(Self.secret)", "anonymous": true}"#) { port in
      let answer = try await signIn(#"{"anonymous": true}"#, port)
      #expect(answer.status == 200)
      #expect(answer.json["expiresIn"] == "3600")
      let (user, token) = (answer.json["localId"]?.string ?? "", answer.json["idToken"]?.string ?? "")
      #expect(try await status("PUT", "/users/\(user).json", token, port) == 200)
      #expect(try await status("PUT", "/users/another.json", token, port) == 401)
      #expect(try await status("GET", "/anonymous.json", token, port) == 200)
      #expect(try await status("GET", "/paying.json", token, port) == 401)
      // The token works on sockets too, and each user has a name of its own.
      let client = try await TreePeer(port: port)
      let answered = try await client.answer(client.send("auth", ["cred": .string(token)]))
      #expect(answered["d"]?["auth"]?["uid"]?.string == user)
      #expect(try await client.value("/users/\(user)") == 1)
      #expect(try await signIn(#"{"anonymous": true}"#, port).json["localId"]?.string != user)
      // Custom tokens are off.
      #expect(try await signIn(#"{"token": "a.b.c"}"#, port).status == 403)
    }
  }

  @Test func `a custom token is exchanged for one of its user, with its claims`() async throws {
    try await serve(#"{"secret": "\#(Self.secret)", "custom": \#(Mint.entry), "lifetime": 60}"#) { port in
      func custom(_ claims: JSONObject) -> String {
        var all: JSONObject = ["iss": .string(Mint.issuer), "aud": "board", "exp": 4_102_444_800]
        for (name, value) in claims { all[name] = value }
        let token = Mint.token(claims: JSONValue.object(all).serialized())
        return #"{"token": "\#(token)"}"#
      }
      let answer = try await signIn(custom(["uid": "ada", "claims": ["plan": "gold"]]), port)
      #expect(answer.json["localId"] == "ada")
      #expect(answer.json["expiresIn"] == "60")
      let token = answer.json["idToken"]?.string ?? ""
      #expect(try await status("PUT", "/users/ada.json", token, port) == 200)
      #expect(try await status("GET", "/paying.json", token, port) == 200)
      #expect(try await status("GET", "/anonymous.json", token, port) == 401)
      for (claims, code) in [
        (["uid": "ada", "claims": ["sub": "eve"]], 400), (["uid": "ada", "claims": 5], 400), (["uid": 7], 400),
        ([:], 400), (["uid": "ada", "exp": 5], 401), (["uid": "ada", "iss": "https://other.example"], 401),
      ] as [(JSONObject, Int)] {
        #expect(try await signIn(custom(claims), port).status == code, "\(claims)")
      }
      // A custom token itself opens nothing, and anonymous users are refused.
      let direct = Mint.token(
        claims: #"{"iss":"\#(Mint.issuer)","aud":"board","sub":"ada","exp":4102444800}"#.utf8.map { $0 })
      #expect(try await status("GET", "/users/ada.json", direct, port) == 401)
      #expect(try await signIn(#"{"anonymous": true}"#, port).status == 403)
      for body in ["", "{", "{}", "[]", #"{"token": 5}"#] {
        #expect(try await signIn(body, port).status == 400, "\(body)")
      }
    }
  }

  @Test func `without a sign-in in the access file there is no such path`() async throws {
    try await Served.with("type Note @model { id: ID! }", { $0.access = .keys(try Served.access("k")) }) {
      (server: GraphQLServer) async throws in
      #expect(try await signIn(#"{"anonymous": true}"#, server.port).status == 404)
    }
  }

  @Test(arguments: [
    (#"{}"#, #"needs "secret" as base64url of at least 32 bytes"#),
    (#"{"secret": "c2hvcnQ", "anonymous": true}"#, #"needs "secret""#),
    (#"{"secret": "S"}"#, #"allows neither "anonymous" nor "custom""#),
    (#"{"secret": "S", "anonymous": 1}"#, #"needs "anonymous" as true or false"#),
    (#"{"secret": "S", "anonymous": true, "lifetime": 5}"#, #"needs "lifetime" as seconds"#),
    (#"{"secret": "S", "custom": {"issuer": "https://x.example"}}"#, #"needs "keys" in "custom""#),
    (#"{"secret": "S", "anonymous": true, "colour": 1}"#, #"has the member "colour""#),
  ])
  func `a sign-in that cannot be is refused with its member`(entry: String, message: String) {
    let text = #"{"signIn": \#(entry.replacing(#""S""#, with: "\"\(Self.secret)\""))}"#
    let error = #expect(throws: AccessFile.Malformed.self) { try AccessFile(text) }
    #expect(error?.description.hasPrefix(#""signIn" "# + message) == true, "\(error?.description ?? "")")
  }
}
