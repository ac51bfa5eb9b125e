import MartletJSON
import MartletServer
import Testing

/// The MUST and SHOULD rows of the GraphQL over HTTP audits, one by one, over real sockets; their wording is ours.
@Suite(.timeLimit(.minutes(1))) struct GraphQLOverHTTPAuditTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var name: String
    var method = "POST"
    var query: String?
    var accept: String?
    var contentType: String? = "application/json"
    var body: String?
    /// Statuses that pass.
    var statuses: ClosedRange<Int>
    /// What Content-Type must begin with, if anything.
    var type: String?
    /// Whether `data` must be there, must not, or either.
    var hasData: Bool?

    var testDescription: String { name }
  }

  private static let modern = "application/graphql-response+json"
  private static let older = "application/json"
  private static let good = #"{"query":"{ __typename }"}"#
  private static let get = "query=%7B%20__typename%20%7D"

  static let requests: [Row] = [
    Row(
      name: "accepts application/graphql-response+json and answers in it", accept: modern, body: good,
      statuses: 200...200, type: modern, hasData: true),
    Row(
      name: "accepts application/json and answers in it", accept: older, body: good, statuses: 200...200, type: older,
      hasData: true),
    Row(name: "accepts any type", accept: "*/*", body: good, statuses: 200...200, hasData: true),
    Row(name: "assumes application/json without Accept", body: good, statuses: 200...200, type: older, hasData: true),
    Row(
      name: "uses utf-8", accept: modern, body: good, statuses: 200...200,
      type: "application/graphql-response+json; charset=utf-8", hasData: true),
    Row(
      name: "takes a request body in utf-8", contentType: "application/json; charset=utf-8", body: good,
      statuses: 200...200, hasData: true),
    Row(name: "takes POST", body: good, statuses: 200...200, hasData: true),
    Row(name: "may take GET", method: "GET", query: get, contentType: nil, statuses: 200...200, hasData: true),
    Row(
      name: "runs no mutation by GET", method: "GET",
      query: "query=mutation%20%7B%20createNote(input%3A%20%7B%7D)%20%7B%20id%20%7D%20%7D", accept: modern,
      contentType: nil, statuses: 405...405),
    Row(name: "refuses POST without Content-Type", contentType: nil, body: good, statuses: 400...499),
    Row(
      name: "takes operationName as a string",
      body: #"{"query":"query A { __typename } query B { b: __typename }","operationName":"B"}"#,
      statuses: 200...200, hasData: true),
    Row(
      name: "takes variables as an object",
      body: #"{"query":"query A($x: Boolean!) { __typename @include(if: $x) }","variables":{"x":true}}"#,
      statuses: 200...200, hasData: true),
    Row(
      name: "takes extensions as an object", body: #"{"query":"{ __typename }","extensions":{"some":"value"}}"#,
      statuses: 200...200, hasData: true),
    Row(
      name: "takes null for what is optional",
      body: #"{"query":"{ __typename }","operationName":null,"variables":null,"extensions":null}"#,
      statuses: 200...200, hasData: true),
    Row(
      name: "takes variables by GET", method: "GET",
      query: "query=query%20A(%24x%3A%20Boolean!)%20%7B%20__typename%20%40include(if%3A%20%24x)%20%7D"
        + "&variables=%7B%22x%22%3Atrue%7D", contentType: nil, statuses: 200...200, hasData: true),
    Row(
      name: "answers a media type it does not speak with 406", accept: "text/html", body: good, statuses: 406...406),
    Row(name: "answers another body type with 415", contentType: "text/plain", body: good, statuses: 415...415),
  ]

  /// Bodies that are not requests, by both types: the same status.
  static let bodies: [(name: String, body: String)] = [
    ("no JSON", "not json"), ("JSON cut short", #"{"query":"#), ("no query", #"{"notquery":"{ __typename }"}"#),
    ("query an object", #"{"query":{"obj":"ect"}}"#), ("query a number", #"{"query":0}"#),
    ("query a Boolean", #"{"query":false}"#), ("query an array", #"{"query":["array"]}"#),
    ("operationName an object", #"{"query":"{ __typename }","operationName":{"obj":"ect"}}"#),
    ("operationName a number", #"{"query":"{ __typename }","operationName":0}"#),
    ("variables a string", #"{"query":"{ __typename }","variables":"string"}"#),
    ("variables a number", #"{"query":"{ __typename }","variables":0}"#),
    ("variables an array", #"{"query":"{ __typename }","variables":["array"]}"#),
    ("extensions a string", #"{"query":"{ __typename }","extensions":"string"}"#),
    ("extensions a number", #"{"query":"{ __typename }","extensions":0}"#),
    ("extensions an array", #"{"query":"{ __typename }","extensions":["array"]}"#),
  ]

  /// Requests that are well-formed and cannot be executed: 200 in the older type, 4xx in the newer, never `data`.
  static let refused: [(name: String, body: String)] = [
    ("a document that does not parse", #"{"query":"{"}"#),
    ("a document that is not valid", #"{"query":"{ 8f31403dfe404bccbb0e835f2629c6a7 }"}"#),
    ("an unknown field", #"{"query":"{ unknown }"}"#),
    (
      "variables that do not fit",
      #"{"query":"query A($x: Boolean!) { __typename @include(if: $x) }","variables":{"x":"a"}}"#
    ),
    ("no operation of the name", #"{"query":"query A { __typename }","operationName":"B"}"#),
  ]

  private func send(_ row: Row, port: Int) async throws -> HTTPRequest.Answer {
    var headers: [(String, String)] = []
    if let type = row.contentType { headers.append(("Content-Type", type)) }
    if let accept = row.accept { headers.append(("Accept", accept)) }
    return try await HTTPRequest.send(
      row.method, "/graphql" + (row.query.map { "?" + $0 } ?? ""), port: port, headers: headers, body: row.body)
  }

  private func check(_ row: Row, port: Int) async throws {
    let answer = try await send(row, port: port)
    #expect(row.statuses.contains(answer.status), "\(row.name): \(answer.status)")
    let type = answer.head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("content-type: ") }
    if let expected = row.type {
      #expect(type?.dropFirst(14).hasPrefix(expected) == true, "\(row.name): \(type ?? "")")
    }
    if let hasData = row.hasData { #expect((answer.json["data"] != nil) == hasData, "\(row.name): \(answer.text)") }
    if answer.status == 405 { #expect(answer.head.contains("\r\nAllow: ")) }
  }

  // MARK: The public audits

  /// What an audit finds wrong; nil when it passes.
  private func fault(_ audit: Audit, draft: Bool, port: Int) async throws -> String? {
    var row = Row(name: audit.id, method: audit.method, query: audit.query, accept: audit.accept, statuses: 0...999)
    row.contentType = audit.contentType
    row.body = audit.body
    let answer = try await send(row, port: port)
    let expected = draft ? audit.draftStatus.map { $0...$0 } ?? audit.statuses : audit.statuses
    if let expected, !expected.contains(answer.status) { return "status \(answer.status)" }
    let type = answer.head.split(separator: "\r\n").first { $0.lowercased().hasPrefix("content-type: ") } ?? ""
    if let wanted = audit.type, !type.contains(wanted) { return "\(type)" }
    if !type.contains("charset=utf-8") { return "no charset: \(type)" }
    if audit.forbidsErrors, answer.json["data"] == nil || answer.json["errors"] != nil { return answer.text }
    if audit.forbidsData, answer.json["data"] != nil || answer.json["errors"] == nil { return answer.text }
    return nil
  }

  @Test(arguments: [false, true]) func `every public audit passes, or differs as the draft's codes do`(draft: Bool)
    async throws
  {
    try await Served.with("type Note @model { id: ID! }", { $0.statusCodes = draft ? .draft : .audited }) { server in
      var passed: [Audit.Level: Int] = [:]
      for audit in Audit.all {
        let fault = try await fault(audit, draft: draft, port: server.port)
        let differs = draft ? audit.draftStatus.map { " (by the draft: \($0))" } ?? "" : ""
        let verdict = fault.map { "FAILED, \($0)" } ?? "ok"
        print("\(audit.id) -> \(verdict)\(differs)  \(audit.level.rawValue) \(audit.title)")
        #expect(fault == nil, "\(audit.testDescription)")
        if fault == nil, !draft || audit.draftStatus == nil { passed[audit.level, default: 0] += 1 }
      }
      let sums = Audit.Level.allCases.map { level in
        "\(passed[level] ?? 0) of \(Audit.all.count { $0.level == level }) \(level.rawValue)"
      }
      print("audits passed \(draft ? "by the draft's codes" : "by default"): \(sums.joined(separator: ", "))")
    }
    let published = Audit.all.filter { !$0.id.hasSuffix("*") }
    #expect(published.count == 61 && Set(published.map(\.id)).count == 61)
    #expect(Audit.Level.allCases.map { level in published.count { $0.level == level } } == [13, 23, 25])
  }

  @Test func `requests are served and refused as the specification says`() async throws {
    try await Served.with("type Note @model { id: ID! }") { server in
      for row in Self.requests { try await check(row, port: server.port) }
    }
  }

  @Test func `what is not a request is 400 in either type`() async throws {
    try await Served.with("type Note @model { id: ID! }") { server in
      for (name, body) in Self.bodies {
        for accept in [Self.modern, Self.older] {
          let row = Row(name: name, accept: accept, body: body, statuses: 400...400, type: accept, hasData: false)
          try await check(row, port: server.port)
        }
      }
    }
  }

  @Test func `what cannot be executed has no data, and a status that the type lets clients trust`() async throws {
    try await Served.with("type Note @model { id: ID! }") { server in
      for (name, body) in Self.refused {
        let modern = Row(
          name: name, accept: Self.modern, body: body, statuses: 400...400, type: Self.modern, hasData: false)
        try await check(modern, port: server.port)
        let older = Row(
          name: name, accept: Self.older, body: body, statuses: 200...200, type: Self.older, hasData: false)
        try await check(older, port: server.port)
      }
    }
  }

  @Test func `by the draft's codes, partial results are 294 and what is understood but wrong is 422`() async throws {
    try await Served.with(
      "type Note @model { id: ID! } type Query { broken: String }",
      {
        $0.statusCodes = .draft
        $0.resolvers = { $0.resolve("Query", "broken") { _ -> String in throw ResolverError("no") } }
      }
    ) { server in
      let rows: [(String, Int)] = [
        (Self.good, 200), (#"{"query":"{ broken }"}"#, 294), (#"{"query":"{"}"#, 400),
        (#"{"query":"{ unknown }"}"#, 422), ("no json", 400), (#"{"query":0}"#, 422),
        (#"{"query":"query A($x: Boolean!) { __typename @include(if: $x) }"}"#, 422),
        (#"{"query":"query A { __typename }","operationName":"B"}"#, 422),
      ]
      for (body, status) in rows {
        for accept in [Self.modern, Self.older] {
          let row = Row(name: body, accept: accept, body: body, statuses: status...status, type: accept)
          try await check(row, port: server.port)
        }
      }
    }
  }
}
