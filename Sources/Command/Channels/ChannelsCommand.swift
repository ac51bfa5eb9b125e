import Foundation
import MartletCommandLine
import MartletJSON
import MartletRuntime

/// `martlet channels list|show|retry|discard|subscribe|cancel|devices URL`.
enum ChannelsCommand: Subcommand {
  private static let actions: [CommandSpecification.Choice] = [
    .init("list", "the subscriptions of webhooks and devices, one a line"),
    .init("show", "one of them, with its dead letters"),
    .init("retry", "deliver dead letters again, and what waits for its pause now"),
    .init("discard", "forget dead letters"), .init("subscribe", "make a subscription from a JSON object"),
    .init("cancel", "end a subscription"), .init("devices", "the devices that take push messages, one a line"),
  ]

  static let specification = CommandSpecification(
    name: "channels", summary: "List and steer what a server delivers to webhooks and devices.",
    operands: [
      .init(name: "ACTION", help: "list, show, retry, discard, subscribe, cancel or devices", choices: actions),
      .init(name: "URL", help: "the server, as http://127.0.0.1:8080"),
      .init(
        name: "SUBSCRIPTION", help: "the subscription's id; for subscribe, the JSON object, @FILE, or -",
        isOptional: true),
      .init(name: "EVENT", help: "the id of one dead letter, for retry and discard (default: all)", isOptional: true),
    ],
    options: OperationInput.connectionOptions + [
      .init(name: "json", value: nil, help: "print the server's answer as JSON")
    ],
    examples: [
      ("martlet channels list localhost:8080", "says of each subscription how it stands"),
      ("martlet channels show localhost:8080 orders", "prints its dead letters as well"),
      ("martlet channels retry localhost:8080 orders", "delivers all of its dead letters again"),
      (
        "martlet channels subscribe localhost:8080 '{\"webhook\":\"shop\",\"node\":\"/orders\"}'",
        "has changes of a node posted to the webhook \"shop\""
      ),
    ],
    discussion:
      "Who may do this is in the server's channels file: administrators all of it, others what is their own. An action "
      + "on a subscription that does not exist exits with 1.")

  static func run(_ arguments: ParsedArguments) async throws -> ExitCode {
    let words = arguments.operands
    let request = try request(words)
    let base = try OperationInput.url(words[1])
    guard var parts = URLComponents(string: base) else { throw UsageError("'\(words[1])' is not a server's URL.") }
    if parts.path == "/graphql" { parts.path = "" }
    parts.path += "/channels" + request.path
    // The URL of the same server's subscriptions does as well.
    parts.scheme = ["https", "wss"].contains(parts.scheme?.lowercased()) ? "https" : "http"
    guard let url = parts.string else { throw UsageError("'\(words[1])' is not a server's URL.") }
    let trust = try ServerTrust(arguments)
    try await ServerWait.wait(for: base, arguments)
    var exchange = HTTPExchangeRequest(request.method, url: url)
    exchange.headers = try OperationInput.headers(arguments)
    exchange.totalTime = time
    if let body = request.body {
      exchange.headers.append((name: "Content-Type", value: "application/json"))
      exchange.body = Array(body.utf8)
    }
    let outcome = await PlainExchange(trust: trust).send(exchange)
    guard outcome.error == nil, (200..<300).contains(outcome.status), let json = try? JSONValue(parsing: outcome.body)
    else {
      let words = Probe.words(outcome.body)
      if outcome.status == 404 {
        // Endpoints of channels answer with JSON; for a path that is not served at all a server has no JSON.
        let isAnswer = (try? JSONValue(parsing: outcome.body))?["errors"] != nil
        if isAnswer { throw CommandFailure(.failure, words ?? "There is no such subscription.") }
        if parts.path.hasPrefix("/channels") { throw CommandFailure(.unavailable, missing(base)) }
      }
      let answer: Probe.Answer =
        if let error = outcome.error, outcome.status == 0 { .failed(error) } else {
          .response(status: outcome.status, words: words)
        }
      // The same cause has the sentence and exit code that it has for other commands.
      let found = await Diagnosis.of(
        answer, url: url, headers: exchange.headers.filter { $0.name != "Content-Type" }, trust: trust)
      if outcome.error == nil, (200..<300).contains(outcome.status) {
        throw CommandFailure(
          .unavailable, "The server at \(Diagnosis.place(base)) serves no channels: its answer is not JSON.")
      }
      throw found.failure(url: base) ?? CommandFailure(.failure, words ?? "HTTP status \(outcome.status)")
    }
    Console.out(arguments.has("json") ? ReadableJSON.pretty(json) : text(json, of: words[0]))
    return .success
  }

  private static let time = Duration.seconds(30)

  private static func missing(_ base: String) -> String {
    "The server at \(Diagnosis.place(base)) serves no channels: it was started without --channels, "
      + "or is not a Martlet server."
  }

  private struct Request {
    var method: String
    var path = ""
    var body: String?
  }

  private static func request(_ words: [String]) throws -> Request {
    let id = try words.count > 2 && words[0] != "subscribe" ? pathSegment(words[2]) : nil
    let body = words.count > 3 ? JSONValue.object(["event": .string(words[3])]).description : nil
    if words.count > 3, !["retry", "discard"].contains(words[0]) {
      throw UsageError("Unexpected operand '\(words[3])'.")
    }
    switch (words[0], id) {
    case ("list", nil): return Request(method: "GET")
    case ("devices", nil): return Request(method: "GET", path: "/devices")
    case ("show", let id?): return Request(method: "GET", path: "/\(id)")
    case ("cancel", let id?): return Request(method: "DELETE", path: "/\(id)")
    case ("retry", let id?), ("discard", let id?):
      return Request(method: "POST", path: "/\(id)/\(words[0])", body: body)
    case ("subscribe", nil) where words.count == 3:
      return Request(method: "POST", body: try OperationInput.text(words[2]))
    case ("list", _?), ("devices", _?): throw UsageError("\(words[0]) takes no subscription; show does.")
    case ("subscribe", _): throw UsageError("subscribe needs a JSON object.")
    default: throw UsageError("\(words[0]) needs the subscription's id.")
    }
  }

  /// An id as it stands in a path; others exist nowhere.
  private static func pathSegment(_ id: String) throws -> String {
    guard !id.isEmpty, id.utf8.allSatisfy({ $0 < 0x80 && ($0 == 0x2D || $0 == 0x5F || isAlphanumeric($0)) }) else {
      throw UsageError("'\(id)' is not the id of a subscription.")
    }
    return id
  }

  private static func isAlphanumeric(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
  }

  // MARK: Text

  private static func text(_ json: JSONValue, of action: String) -> String {
    switch action {
    case "list":
      let subscriptions = json["subscriptions"]?.array ?? []
      return subscriptions.isEmpty ? "There are no subscriptions." : subscriptions.map(line).joined(separator: "\n")
    case "devices":
      let devices = json["devices"]?.array ?? []
      return devices.isEmpty
        ? "There are no devices."
        : devices.map { "\($0["id"]?.string ?? "")  \($0["platform"]?.string ?? "")" }.joined(separator: "\n")
    case "retry": return letters(json["retried"]) + " will be delivered again."
    case "discard":
      return letters(json["discarded"]) + (json["discarded"]?.int == 1 ? " was forgotten." : " were forgotten.")
    case "cancel": return "\(json["id"]?.string ?? "") was cancelled."
    case "subscribe": return json["id"]?.string ?? ""
    default:
      let letters = (json["dead"]?.array ?? []).map { letter in
        "  \(letter["id"]?.string ?? "")  attempts \(letter["attempts"]?.int ?? 0)  \(letter["reason"]?.string ?? "")"
      }
      return ([line(json)] + letters).joined(separator: "\n")
    }
  }

  private static func letters(_ number: JSONValue?) -> String {
    let count = number?.int ?? 0
    return count == 1 ? "1 dead letter" : "\(count) dead letters"
  }

  private static func line(_ json: JSONValue) -> String {
    let target = json["webhook"]?.string.map { "webhook \($0)" } ?? "device \(json["device"]?.string ?? "")"
    let source = json["node"]?.string.map { "node \($0)" } ?? "query"
    var parts = [
      json["id"]?.string ?? "", json["state"]?.string ?? "", target, source,
      "position \(json["position"]?.int ?? 0)", "waiting \(json["waiting"]?.int ?? 0)",
      "dead \(json["deadLetters"]?.int ?? 0)",
    ]
    if let reason = json["reason"]?.string { parts.append(reason) }
    return parts.joined(separator: "  ")
  }
}
