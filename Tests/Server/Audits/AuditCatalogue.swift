import Testing

/// The public audits of GraphQL over HTTP servers, by their identifiers: the 61 of the suite `graphql-http` in its
/// releases since 1.22.2. What each asks for is said in our own words.
struct Audit: Sendable, CustomTestStringConvertible {
  enum Level: String, Sendable, CaseIterable {
    case must = "MUST"
    case should = "SHOULD"
    case may = "MAY"
  }

  var id: String
  var level: Level
  var title: String
  var method = "POST"
  var query: String?
  var accept: String?
  var contentType: String? = "application/json"
  var body: String?
  /// Statuses that pass; nil when the audit does not look.
  var statuses: ClosedRange<Int>?
  /// What Content-Type has to contain.
  var type: String?
  /// The body must be a result without errors.
  var forbidsErrors = false
  /// The body must have no `data`.
  var forbidsData = false
  /// The status of a server that follows the draft of August 2026, where that fails the audit.
  var draftStatus: Int?

  var testDescription: String { "\(id) \(level.rawValue) \(title)" }

  static let modern = "application/graphql-response+json"
  static let older = "application/json"

  static let all: [Audit] = mediaTypes + requests + parameters + failures

  private static func post(
    _ id: String, _ level: Level, _ title: String, _ body: String?, accept: String? = nil,
    _ statuses: ClosedRange<Int>?, draft: Int? = nil
  ) -> Audit {
    Audit(id: id, level: level, title: title, accept: accept, body: body, statuses: statuses, draftStatus: draft)
  }

  private static let good = #"{"query":"{ __typename }"}"#

  private static var mediaTypes: [Audit] {
    var audits = [
      post("22EB", .should, "answers in the newer type when asked for it", good, accept: modern, 200...200),
      post("4655", .must, "answers in JSON when asked for it", good, accept: older, 200...200),
      post("47DE", .should, "answers in JSON to who accepts anything", good, accept: "*/*", 200...200),
      Audit(
        id: "80D8", level: .should, title: "answers in JSON to who says nothing", method: "GET",
        query: "query=%7B+__typename+%7D", contentType: nil, statuses: 200...200),
      post("82A3", .must, "writes UTF-8", good, 200...200),
      post(
        "BF61", .must, "reads UTF-8",
        #"{"query":"{ __type(name: \"Run🏃Swim🏊\") { name } }"}"#, 200...200),
      post("78D5", .must, "takes UTF-8 for granted", good, 200...200),
    ]
    audits[0].type = modern
    for index in 1...3 { audits[index].type = older }
    audits[5].contentType = "application/json; charset=utf-8"
    return audits
  }

  private static var requests: [Audit] {
    var withoutType = post("9ABE", .should, "refuses POST that does not say what it carries", nil, 400...499)
    withoutType.contentType = nil
    return [
      post("2C94", .must, "takes POST", good, 200...200),
      Audit(
        id: "5A70", level: .may, title: "takes GET", method: "GET", query: "query=%7B+__typename+%7D",
        contentType: nil, statuses: 200...200),
      Audit(
        id: "9C48", level: .may, title: "runs no mutation by GET", method: "GET",
        query: "query=mutation+%7B+__typename+%7D", accept: modern, contentType: nil, statuses: 400...499),
      withoutType,
      post("03D4", .must, "takes POST with JSON", good, 200...200),
      post("A5BF", .may, "answers 400 to POST without a body", nil, 400...400),
    ]
  }

  private static var parameters: [Audit] {
    var audits: [Audit] = [
      post(
        "423L", .may, "answers 400 where query is missing", #"{"notquery":"{ __typename }"}"#, accept: modern,
        400...400, draft: 422)
    ]
    func wrong(_ prefix: String, _ name: String, _ values: [(String, String)], _ write: (String) -> String) {
      for (index, (kind, value)) in values.enumerated() {
        audits.append(
          post("\(prefix)\(index)", .may, "answers 400 where \(name) is \(kind)", write(value), 400...400, draft: 422))
      }
    }
    let noText = [
      ("an object", #"{"obj":"ect"}"#), ("a number", "0"), ("a Boolean", "false"), ("a list", #"["array"]"#),
    ]
    let noMap = [("text", #""string""#), ("a number", "0"), ("a Boolean", "false"), ("a list", #"["array"]"#)]
    wrong("LKJ", "query", noText) { #"{"query":\#($0)}"# }
    wrong("6C0", "operationName", noText) { #"{"operationName":\#($0),"query":"{ __typename }"}"# }
    wrong("476", "variables", noMap) { #"{"query":"{ __typename }","variables":\#($0)}"# }
    wrong("58B", "extensions", noMap) { #"{"query":"{ __typename }","extensions":\#($0)}"# }
    func right(_ newer: String, _ old: String, _ title: String, _ body: String) {
      audits.append(post(newer, .should, "\(title), in the newer type", body, accept: modern, 200...200))
      audits[audits.count - 1].forbidsErrors = newer.hasPrefix("94B")
      audits.append(post(old, .must, "\(title), in JSON", body, accept: older, 200...200))
      audits[audits.count - 1].forbidsErrors = true
    }
    right("34A2", "13EE", "takes query as text", good)
    right(
      "8161", "B8B3", "takes operationName as text",
      #"{"operationName":"Query","query":"query Query { __typename }"}"#)
    for (index, name) in ["variables", "operationName", "extensions"].enumerated() {
      right("94B\(index)", "022\(index)", "takes null for \(name)", #"{"query":"{ __typename }","\#(name)":null}"#)
    }
    let typed =
      #"{"query":"query Type($name: String!) { __type(name: $name) { name } }","variables":{"name":"sometype"}}"#
    right("2EA1", "28B9", "takes variables as a map", typed)
    right("428F", "1B7A", "takes extensions as a map", #"{"query":"{ __typename }","extensions":{"some":"value"}}"#)
    let byGET =
      "query=query+Type%28%24name%3A+String%21%29+%7B+__type%28name%3A+%24name%29+%7B+name+%7D+%7D"
      + "&variables=%7B%22name%22%3A%22sometype%22%7D"
    for (id, accept) in [("D6D5", modern), ("6A70", older)] {
      audits.append(
        Audit(
          id: id, level: .may, title: "takes variables as JSON by GET, in \(accept)", method: "GET", query: byGET,
          accept: accept, contentType: nil, statuses: 200...200, forbidsErrors: accept == older))
    }
    return audits
  }

  private static var failures: [Audit] {
    let cut = #"{ "not a JSON"#
    let typo = #"{"qeury":"{ __typename }"}"#
    let unparsed = #"{"query":"{"}"#
    let invalid = #"{"query":"{ 8f31403dfe404bccbb0e835f2629c6a7 }"}"#
    let unknown = #"{"query":"{ thereIsNoSuchField }"}"#
    let coercion = #"{"query":"query CoerceFailure($id: ID!){ __typename }","variables":{"id":null}}"#
    var audits = [
      post("B6DC", .may, "in JSON, 2xx, 4xx or 5xx for what is not JSON", cut, accept: older, 200...599),
      post("BCF8", .should, "in JSON, 400 for what is not JSON", cut, accept: older, 400...400),
      post("B7N8", .should, "400 for what is not JSON", cut, accept: modern, 400...400),
      post("8764", .may, "answers 4xx or 5xx to wrong parameters", typo, 400...599),
      post("3E3A", .may, "answers 400 to wrong parameters", typo, 400...400, draft: 422),
      post("572B", .should, "in JSON, 200 for what does not parse", unparsed, accept: older, 200...200, draft: 400),
      post("FDE2", .should, "in JSON, 200 for what is not valid", invalid, accept: older, 200...200, draft: 400),
      post(
        "7B9B", .should, "in JSON, 200 for variables that do not fit", coercion, accept: older, 200...200, draft: 422),
      post("865D", .should, "4xx or 5xx for what does not parse", unparsed, accept: modern, 400...599),
      post("556A", .should, "400 for what does not parse", unparsed, accept: modern, 400...400),
      post("D586", .should, "no data for what does not parse", unparsed, accept: modern, nil),
      post("51FE", .should, "4xx or 5xx for what is not valid", invalid, accept: modern, 400...599),
      post("74FF", .should, "400 for what is not valid", invalid, accept: modern, 400...400),
      post("5E5B", .should, "no data for what is not valid", invalid, accept: modern, nil),
      post("86EE", .should, "400 for variables that do not fit", coercion, accept: modern, 400...400, draft: 422),
      // The audits' "invalid" document does not even parse, as a name begins with a digit; ours does and is not valid.
      post("FDE2*", .should, "in JSON, 200 for an unknown field", unknown, accept: older, 200...200, draft: 422),
      post("74FF*", .should, "400 for an unknown field", unknown, accept: modern, 400...400, draft: 422),
      post("5E5B*", .should, "no data for an unknown field", unknown, accept: modern, nil),
    ]
    for index in audits.indices where audits[index].statuses == nil { audits[index].forbidsData = true }
    return audits
  }
}
