import MartletJSON
import MartletTesting
import Testing

/// A rules file as applications have them: comments, wildcards in wildcards, `query`, regular expressions, and all of
/// `auth`, `now`, `root`, `data` and `newData`.
@Suite struct ChatRulesTests {
  private static let rules = """
    // Who may see and write messages.
    {"rules": {
      "rooms": {
        "$room": {
          /* Small windows only: rules are not filters. */
          ".read": "query.orderByChild == 'at' && query.limitToLast <= 20",
          "$message": {
            ".write": "auth != null
              && (!data.exists() || data.child('by').val() === auth.uid)
              && (!newData.exists() || newData.child('by').val() === auth['uid'])",
            ".validate": "newData.hasChildren(['by', 'text', 'at'])",
            "by": {".validate": "newData.val() == auth.uid"},
            "text": {".validate": "newData.isString() && newData.val().matches(/^[^<>\\\\/]+$/i) && newData.val().length <= 12"},
            "at": {".validate": "newData.val() == now || newData.val() === data.val()"},
            "likes": {
              "$who": {
                ".write": "$who == auth.uid",
                ".validate": "newData.isBoolean() && root.child('members').child($room).hasChild($who)
                  && newData.parent().parent().child('by').val() != $who && $message.beginsWith('-')"
              }
            },
            "$other": {".validate": false}
          }
        }
      },
      "members": {
        "$room": {"$uid": {".read": "auth.uid == $uid || auth.token.admin == true", ".indexOn": ".value"}}
      }
    }}
    """

  private static let message: JSONValue = ["by": "ada", "text": "Hello", "at": [".sv": "timestamp"]]
  private static let stored: JSONValue = [
    "rooms": ["hall": ["-m": ["by": "ada", "text": "Hello", "at": 5]]], "members": ["hall": ["ada": 1, "bob": 2]],
  ]

  private static func user(_ uid: String?) -> JSONValue { uid.map { ["uid": .string($0)] } ?? .null }

  private func write(_ path: String, _ value: JSONValue, as uid: String?, _ data: JSONValue = stored) throws -> String {
    let verdict = try TreeRulesDriver(rules: Self.rules).write(
      path, value, data: data, auth: Self.user(uid), now: 1_000)
    return verdict.isAllowed ? "allowed" : verdict.rule ?? "no rule"
  }

  @Test func `messages are written by their authors, whole and with the server's time`() throws {
    let write = "/rooms/$room/$message/.write"
    #expect(try self.write("rooms/hall/-n", Self.message, as: "ada") == "allowed")
    #expect(try self.write("rooms/hall/-n", Self.message, as: nil) == write)
    #expect(try self.write("rooms/hall/-n", Self.message, as: "bob") == write)
    #expect(try self.write("rooms/hall/-m", Self.message, as: "bob") == write)
    // A deletion is granted by what is there, and validated by nothing.
    #expect(try self.write("rooms/hall/-m", .null, as: "ada") == "allowed")
    #expect(try self.write("rooms/hall/-m", .null, as: "bob") == write)
    // Nothing grants the room as a whole.
    #expect(try self.write("rooms/hall", .null, as: "ada") == "no rule")
    let below = "/rooms/$room/$message/"
    for (name, value, rule) in [
      ("text", "a <b>", "text/.validate"), ("text", "longer than twelve", "text/.validate"),
      ("text", 5, "text/.validate"), ("at", 6, "at/.validate"), ("by", "bob", ".write"),
      ("color", "red", "$other/.validate"), ("text", .null, ".validate"),
    ] as [(String, JSONValue, String)] {
      #expect(try self.write("rooms/hall/-m/\(name)", value, as: "ada") == below + rule, "\(name)")
    }
    #expect(try self.write("rooms/hall/-m/text", "Bye", as: "ada") == "allowed")
  }

  @Test func `members like what others wrote`() throws {
    let like = "/rooms/$room/$message/likes/$who/"
    #expect(try write("rooms/hall/-m/likes/bob", true, as: "bob") == "allowed")
    #expect(try write("rooms/hall/-m/likes/bob", true, as: "eve") == like + ".write")
    #expect(try write("rooms/hall/-m/likes/eve", true, as: "eve") == like + ".validate")
    #expect(try write("rooms/hall/-m/likes/bob", "yes", as: "bob") == like + ".validate")
    // The author may write below the message, and is refused by the validation.
    #expect(try write("rooms/hall/-m/likes/ada", true, as: "ada") == like + ".validate")
    #expect(try write("rooms/hall/-m/likes/bob", .null, as: "bob") == "allowed")
  }

  @Test func `reads are judged by their window and by what they claim`() throws {
    let rules = try TreeRulesDriver(rules: Self.rules)
    func reads(_ path: String, _ query: JSONValue?, _ auth: JSONValue = .null) throws -> Bool {
      try rules.read(path, data: Self.stored, auth: auth, now: 1_000, query: query).isAllowed
    }
    #expect(try reads("rooms/hall", ["orderByChild": "at", "limitToLast": 20]))
    #expect(try !reads("rooms/hall", ["orderByChild": "at", "limitToLast": 21]))
    #expect(try !reads("rooms/hall", ["orderByChild": "at", "limitToFirst": 5]))
    #expect(try !reads("rooms/hall", ["orderByChild": "by", "limitToLast": 5]))
    #expect(try !reads("rooms/hall", nil))
    #expect(try !reads("rooms", ["orderByChild": "at", "limitToLast": 5]))
    #expect(try reads("members/hall/ada", nil, Self.user("ada")))
    #expect(try !reads("members/hall/ada", nil, Self.user("bob")))
    #expect(try reads("members/hall/ada", nil, ["uid": "eve", "token": ["admin": true]]))
    #expect(try !reads("members/hall/ada", nil, ["uid": "eve", "token": ["admin": "true"]]))
  }
}
