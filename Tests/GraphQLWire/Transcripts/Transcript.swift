import MartletJSON
import MartletVocabulary
import Testing

@testable import MartletGraphQLClientWire
@testable import MartletGraphQLWire
@testable import MartletHTTPWire
@testable import MartletWire

/// What is said on one connection, for one row of a protocol's checklist. The machine plays the lines that come from
/// outside, and the text with its own lines between them must be the text that is written here.
///
/// | line | meaning |
/// | --- | --- |
/// | `> …` | a message from the peer |
/// | `+ …` | what the machine's owner does: `accept`, `start a {q}`, `wait 3` |
/// | `< …` | a message to the peer |
/// | `= …` | what the owner is asked to do, or gets reported |
struct Transcript: Sendable, CustomTestStringConvertible {
  var row: String
  var text: String
  var limit: Int?

  var testDescription: String { row }

  /// - Parameter limit: operations the server allows.
  init(_ row: String, limit: Int? = nil, _ text: String) {
    self.row = row
    self.text = text
    self.limit = limit
  }

  /// Lets a server's machine play its part.
  func play(_ server: DialectServer) {
    var server = server
    var played: [String] = []
    for line in text.split(separator: "\n").map(String.init) where line.hasPrefix("> ") || line.hasPrefix("+ ") {
      played.append(line)
      let rest = String(line.dropFirst(2))
      if line.hasPrefix("> ") { server.receive(rest) } else { Self.carryOut(rest, &server) }
      played += server.take().map(\.line)
    }
    #expect(played.joined(separator: "\n") == text, "\(row)")
  }

  private static func carryOut(_ command: String, _ server: inout DialectServer) {
    let words = command.split(separator: " ", maxSplits: 2).map(String.init)
    let number = words.count > 1 ? Int(words[1]) : nil
    let argument = words.count > 2 ? words[2] : ""
    let cursor = Cursor(term: 1, offset: 7)
    switch (words[0], number) {
    case ("accept", nil):
      server.accept(words.count > 1 ? (try? JSONValue(parsing: Array(words[1].utf8)))?.object : nil)
    case ("refuse", nil): server.machine.refuse(String(command.dropFirst(7)), actions: &server.actions)
    case ("binary", nil): server.machine.receivedBinary(actions: &server.actions)
    case ("gone", nil): server.machine.connectionEnded(actions: &server.actions)
    case ("next", let number?): server.next(number, argument)
    case ("fail", let number?): server.fail(number, argument)
    case ("complete", let number?): server.machine.complete(number, actions: &server.actions)
    case ("live", let number?): server.machine.live(number, actions: &server.actions)
    case ("ready", let number?): server.machine.ready(number, cursor, actions: &server.actions)
    // 1 for credentials that are accepted.
    case ("renewed", let isAccepted?): server.machine.renewed(isAccepted == 1, actions: &server.actions)
    case ("warn", let seconds?): server.machine.warn(.seconds(seconds), actions: &server.actions)
    case ("end", let code?):
      server.machine.end(WebSocketCloseCode(rawValue: UInt16(code)), argument, actions: &server.actions)
    case ("wait", let seconds?): server.pass(.seconds(seconds))
    default: Issue.record("a transcript knows no command \(command)")
    }
  }

  /// Lets a client's machine play its part.
  func play(_ client: DialectClient) throws {
    var client = client
    var played: [String] = []
    for line in text.split(separator: "\n").map(String.init) where line.hasPrefix("> ") || line.hasPrefix("+ ") {
      played.append(line)
      let rest = String(line.dropFirst(2))
      if line.hasPrefix("> ") { client.receive(rest) } else { try Self.carryOut(rest, &client) }
      played += client.take().map(\.line)
    }
    #expect(played.joined(separator: "\n") == text, "\(row)")
  }

  private static func carryOut(_ command: String, _ client: inout DialectClient) throws {
    let words = command.split(separator: " ", maxSplits: 2).map(String.init)
    let argument = words.count > 1 ? words[1] : ""
    switch words[0] {
    case "open": client.open(try? JSONValue(parsing: Array(argument.utf8)).object)
    case "start": try client.start(argument, RequestPayload(query: words[2]))
    case "ask": try client.start(argument, RequestPayload(query: words[2]), repetition: .never)
    case "cancel": try client.cancel(argument)
    case "drop": client.disconnect()
    case "leave": client.machine.leaving(actions: &client.actions)
    case "wait": client.pass(.seconds(try #require(Int(argument))))
    default: Issue.record("a transcript knows no command \(command)")
    }
  }
}

extension Heard {
  /// The action as a line of a transcript.
  fileprivate var line: String {
    switch self {
    case .send(let text): "< \(text)"
    case .authenticate(let payload): "= authenticate" + (payload.map { " \(JSONValue.object($0))" } ?? "")
    case .renew(let credentials): "= renew \(JSONValue.object(credentials))"
    case .start(let number, let id, let query): "= start \(number) \(id) \(query)"
    case .stop(let number): "= stop \(number)"
    case .tellPosition: "= tell position"
    case .violated(let what): "= violated: \(what)"
    case .close(let code, let reason): "= close \(code)" + (reason.isEmpty ? "" : " \(reason)")
    }
  }
}

extension Told {
  /// The action as a line of a transcript.
  fileprivate var line: String {
    switch self {
    case .send(let text): "< \(text)"
    case .acknowledged: "= acknowledged"
    case .alive: "= alive"
    case .started(let id): "= started \(id)"
    case .confirmed(let id): "= confirmed \(id)"
    case .ready(let id): "= ready \(id)"
    case .next(let id, let payload): "= next \(id) \(payload)"
    case .gap(let id): "= gap \(id)"
    case .failed(let id, let messages): "= failed \(id) \(messages)"
    case .unauthorized(let id): "= unauthorized \(id)"
    case .violated(let id, let what): "= violated \(id): \(what)"
    case .completed(let id): "= completed \(id)"
    case .lost(let id): "= lost \(id)"
    case .refused(let retry, let messages): "= refused \(retry) \(messages)"
    case .mismatched(let answered): "= mismatched: \(answered)"
    case .close(let code): "= close \(code)"
    }
  }
}
