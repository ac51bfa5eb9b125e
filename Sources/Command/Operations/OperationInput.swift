import Foundation
import Martlet
import MartletCommandLine
import MartletJSON

/// What the commands that send a document have in common.
struct OperationInput {
  let url: String
  let document: String
  let variables: JSONObject
  let operationName: String?
  let headers: [(name: String, value: String)]
  /// Files that travel as variables.
  var files: [GraphQLFile] = []

  static let operands: [CommandSpecification.Operand] = [
    .init(name: "URL", help: "the server, as http://127.0.0.1:8080/graphql; the path may be left out"),
    .init(name: "DOCUMENT", help: "the GraphQL document, @FILE, or - for standard input"),
  ]

  static let connectionOptions: [CommandSpecification.Option] =
    [.init(name: "header", value: "N:V", help: "send this header field, such as x-api-key:…", repeats: true)]
    + ServerTrust.options + [ServerWait.option]

  static let options: [CommandSpecification.Option] =
    [
      .init(name: "variables", value: "JSON", help: "the variables as a JSON object, or @FILE"),
      .init(name: "operation", value: "NAME", help: "the operation to run, if the document has several"),
    ] + connectionOptions

  static let file = CommandSpecification.Option(
    name: "file", value: "VARIABLE=PATH", help: "send a file as this variable, such as picture or input.pictures.0",
    repeats: true)

  static let persisted = CommandSpecification.Option(
    name: "persisted", value: nil, help: "name the document by its hash, and send it only when the server asks for it")

  /// - Parameter kind: what the document's operation must be.
  init(_ arguments: ParsedArguments, for kind: OperationDocument.Kind) throws {
    url = try Self.url(arguments.operands[0])
    document = try Self.text(arguments.operands[1])
    operationName = arguments.value("operation")
    try OperationDocument.check(document, operationName: operationName, for: kind)
    headers = try Self.headers(arguments)
    files = try arguments.all("file").map(Self.readFile)
    guard let text = arguments.value("variables") else {
      variables = JSONObject()
      return
    }
    let value: JSONValue
    do {
      value = try JSONValue(parsing: try Self.text(text))
    } catch let error as JSONError {
      throw UsageError("--variables is not JSON: \(error.description).")
    }
    guard let object = value.object else { throw UsageError("--variables must be a JSON object.") }
    variables = object
  }

  /// A file by its place in the variables, read.
  private static func readFile(_ word: String) throws -> GraphQLFile {
    let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else {
      throw UsageError("--file must be VARIABLE=PATH, not '\(word)'.")
    }
    let path = String(parts[1])
    do {
      return try GraphQLFile(fieldName: String(parts[0]), fileURL: URL(fileURLWithPath: path))
    } catch {
      throw CommandFailure(.io, error.message + ".")
    }
  }

  /// The variables with null where files belong, as the specification of such requests wants it.
  var variablesWithRoomForFiles: JSONObject {
    var variables = variables
    for file in files where !file.fieldName.contains(".") && variables[file.fieldName] == nil {
      variables[file.fieldName] = .null
    }
    return variables
  }

  /// `@FILE`, `-`, or the text itself.
  static func text(_ word: String) throws(CommandFailure) -> String {
    if word == "-" { return try NamedFile.text("-") }
    return word.hasPrefix("@") ? try NamedFile.text(String(word.dropFirst())) : word
  }

  /// A server's URL; scheme and path may be left out.
  static func url(_ word: String) throws(UsageError) -> String {
    let text = word.contains("://") ? word : "http://" + word
    let parts = text.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
    guard parts.count >= 3, ["http:", "https:", "ws:", "wss:"].contains(parts[0].lowercased()), !parts[2].isEmpty else {
      throw UsageError("'\(word)' is not a server's URL, such as http://127.0.0.1:8080/graphql.")
    }
    // The port stands after the last colon, which is not one of an address of IPv6.
    let place = parts[2].split { $0 == "]" || $0 == "@" }.last ?? ""
    if let colon = place.lastIndex(of: ":"), !isPort(place[place.index(after: colon)...]) {
      throw UsageError("'\(word)' has a port that is not a number from 1 to 65535.")
    }
    return parts.count == 3 || parts[3].isEmpty ? "\(parts[0])//\(parts[2])/graphql" : text
  }

  private static func isPort(_ text: Substring) -> Bool { Int(text).map { (1...65_535).contains($0) } ?? false }

  static func headers(_ arguments: ParsedArguments) throws(UsageError) -> [(name: String, value: String)] {
    var headers: [(name: String, value: String)] = []
    for word in arguments.all("header") {
      let parts = word.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, !parts[0].isEmpty else {
        throw UsageError("--header must be NAME:VALUE, not '\(word)'.")
      }
      headers.append((String(parts[0]), String(parts[1].drop { $0 == " " })))
    }
    do {
      try Credentials(headers: headers).checkHeaders()
    } catch {
      throw UsageError("--header: \(error.message).")
    }
    return headers
  }
}
