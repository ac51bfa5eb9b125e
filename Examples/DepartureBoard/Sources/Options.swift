/// The command line of the example.
struct Options {
  enum Action: String {
    case run, serve, replay, board, help
  }

  struct Wrong: Error, CustomStringConvertible {
    let description: String
  }

  var action = Action.help
  var port = 8_080
  var url = "ws://127.0.0.1:8080/graphql"
  var airport = "JFK"
  var only: String?
  var days = 7
  /// Simulated minutes in a second; nil as fast as the server acknowledges.
  var speed: Double? = 10
  var data = Options.ownData
  var history: String?
  var events: Int?
  var files = "Examples/DepartureBoard"
  /// An access file; without it the server is open to this machine.
  var access: String?
  /// The token of a caller that may write.
  var token: String?

  static let ownData = ".build/departure-board"

  init(_ words: [String]) throws {
    var rest = words[...]
    guard let first = rest.popFirst() else { return }
    guard let action = Action(rawValue: first.hasPrefix("-") ? "help" : first) else {
      throw Wrong(description: "'\(first)' is none of run, serve, replay, board.")
    }
    self.action = action
    while let name = rest.popFirst() {
      if name == "--help" {
        self.action = .help
        return
      }
      guard let value = rest.popFirst() else { throw Wrong(description: "\(name) needs a value.") }
      func number() throws -> Int {
        guard let number = Int(value), number >= 0 else {
          throw Wrong(description: "\(name) must be a whole number, not '\(value)'.")
        }
        return number
      }
      switch name {
      case "--port":
        port = try number()
        guard port <= 65_535 else {
          throw Wrong(description: "--port must be a whole number from 0 to 65535, not '\(value)'.")
        }
      case "--url": url = value
      case "--airport": airport = value.uppercased()
      case "--only": only = value.uppercased()
      case "--days": days = try number()
      case "--speed":
        speed = Double(value)
        guard value == "unlimited" || (speed ?? 0) > 0 else {
          throw Wrong(description: "--speed must be a number above zero or 'unlimited', not '\(value)'.")
        }
      case "--data": data = value
      case "--history": history = value
      case "--events": events = try number()
      case "--files": files = value
      case "--access": access = value
      case "--token": token = value
      default: throw Wrong(description: "There is no option \(name).")
      }
    }
  }
}
