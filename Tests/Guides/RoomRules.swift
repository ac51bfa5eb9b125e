import MartletJSON
import MartletTesting

/// The rules of a chat, and what they must say, without a server.
enum RoomRules {
  static let text = """
    {"rules": {
      "rooms": {
        "$room": {
          // Members read; the owner decides who is one.
          ".read": "root.child('members/' + $room + '/' + auth.uid).exists()",
          "messages": {
            ".indexOn": "at",
            "$message": {
              ".write": "!data.exists() && newData.child('by').val() === auth.uid",
              ".validate": "newData.hasChildren(['by', 'at', 'text'])",
              "text": {".validate": "newData.isString() && newData.val().length <= 500"},
              "at": {".validate": "newData.val() === now"},
              "$other": {".validate": "$other === 'by'"}
            }
          }
        }
      },
      "members": {
        "$room": {".read": "data.child(auth.uid).exists()", ".write": "data.child('owner').val() === auth.uid"}
      }
    }}
    """

  /// What does not hold, with the reason of the rules; empty when all is well.
  static func check() throws -> [String] {
    let rules = try TreeRulesDriver(rules: text)
    let data: JSONValue = ["members": ["den": ["ada": true, "owner": "ada"]]]
    let (ada, eve): (JSONValue, JSONValue) = (["uid": "ada"], ["uid": "eve"])
    let message: JSONValue = ["by": "ada", "at": [".sv": "timestamp"], "text": "hello"]
    let wanted = [
      ("a member reads", true, try rules.read("rooms/den", data: data, auth: ada)),
      ("others do not", false, try rules.read("rooms/den", data: data, auth: eve)),
      ("a member writes", true, try rules.write("rooms/den/messages/m", message, data: data, auth: ada)),
      (
        "a caller does not write for another", false,
        try rules.write("rooms/den/messages/m", message, data: data, auth: eve)
      ),
    ]
    return wanted.filter { $0.1 != $0.2.isAllowed }.map { "\($0.0): \($0.2.reason ?? "allowed")" }
  }
}
