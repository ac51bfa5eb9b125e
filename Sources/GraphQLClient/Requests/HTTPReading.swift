import MartletHTTPWire
import MartletJSON

/// What an HTTP answer says by the rules of GraphQL over HTTP: a body of the type `application/graphql-response+json`
/// is a response whatever the status, one of `application/json` only with a status of 2xx.
enum HTTPReading {
  /// A response with data, possibly with errors beside it.
  case response(JSONTape, remembersWrites: Bool)
  /// The request was refused as a whole: there is no `data` entry.
  case requestError([JSONValue])
  /// The answer is not GraphQL response.
  case noResponse(GraphQLClientError)

  init(_ answer: HTTPAnswer, limit: Int) {
    let status = answer.head.status
    let isFine = (200..<300).contains(status)
    let type = Self.type(of: answer)
    let isOurs = type?.matches("application", "graphql-response+json") == true
    guard isOurs || (isFine && type?.matches("application", "json") == true) else {
      let errors = Self.errors(of: answer)
      let said = errors.first?["message"]?.string ?? "an answer that is not a GraphQL response"
      self = .noResponse(
        GraphQLClientError(
          isFine ? .invalidResponse : .httpStatus, "HTTP \(status): \(said)", status: status, errors: errors))
      return
    }
    do throws(JSONError) {
      let tape = try JSONTape(answer.body, limits: Self.limits(limit))
      let errors = tape.root["errors"]?.value.array ?? []
      if tape.root["data"] != nil {
        let remembers = tape.root["extensions"]?["martlet"]?["writes"]?.bool ?? false
        self = .response(tape, remembersWrites: remembers)
      } else if !errors.isEmpty {
        self = .requestError(errors)
      } else {
        self = .noResponse(
          GraphQLClientError(.invalidResponse, "the answer has neither data nor errors", status: status))
      }
    } catch {
      self = .noResponse(
        GraphQLClientError(.invalidResponse, "the answer is not JSON", underlying: error, status: status))
    }
  }

  private static func type(of answer: HTTPAnswer) -> MediaType? {
    answer.head.headers.values("Content-Type").first.flatMap { MediaType($0) }
  }

  private static func limits(_ bytes: Int) -> JSONLimits {
    var limits = JSONLimits()
    limits.bytes = bytes
    return limits
  }

  /// Errors in a JSON body that is not to be trusted as a response; only for people to read.
  static func errors(of answer: HTTPAnswer) -> [JSONValue] {
    guard let type = type(of: answer), type.type == "application", type.subtype.hasSuffix("json"),
      let body = try? JSONValue(parsing: answer.body)
    else { return [] }
    return body["errors"]?.array ?? []
  }
}
