import MartletJSON
import MartletModels
import MartletRuntime
import MartletServer
import Testing

/// Filters and ends of subscriptions that the program sets, as AppSync's resolvers do.
@Suite(.timeLimit(.minutes(1))) struct SubscriptionControlTests {
  private static let schema = """
    type Place { code: String floors: [Int] }
    type Detail { severity: Int place: Place }
    type Mutation { invalidate(field: String!, room: String!): Boolean }
    type Alert @model { id: ID! text: String labels: [String] detail: Detail details: [Detail] }
    """

  private static func group(_ filters: [JSONValue]...) -> JSONValue {
    ["filterGroup": .array(filters.map { ["filters": .array($0)] })]
  }

  private static func rule(_ field: String, _ name: String, _ value: JSONValue) -> JSONValue {
    ["fieldName": .string(field), "operator": .string(name), "value": value]
  }

  @Test func `every operator, paths and groups`() throws {
    let event: JSONObject = [
      "text": "fire", "count": 7, "none": nil, "labels": ["red", "loud"],
      "detail": ["severity": 5, "place": ["code": "A1", "floors": [1, 2]]],
      "details": [["severity": 1], ["severity": 9]],
    ]
    let rows: [(JSONValue, Bool)] = [
      (Self.rule("text", "eq", "fire"), true), (Self.rule("text", "ne", "fire"), false),
      (Self.rule("text", "beginsWith", "fi"), true), (Self.rule("text", "contains", "ir"), true),
      (Self.rule("text", "notContains", "ir"), false), (Self.rule("text", "in", ["fire", "x"]), true),
      (Self.rule("text", "notIn", ["fire"]), false), (Self.rule("text", "containsAny", ["zz", "re"]), true),
      (Self.rule("count", "lt", 7), false), (Self.rule("count", "le", 7), true), (Self.rule("count", "gt", 6), true),
      (Self.rule("count", "ge", 8), false), (Self.rule("count", "between", [7, 9]), true),
      (Self.rule("none", "eq", nil), true), (Self.rule("absent.further", "eq", nil), true),
      (Self.rule("labels", "contains", "red"), true), (Self.rule("labels", "containsAny", ["blue", "loud"]), true),
      (Self.rule("labels", "containsAny", ["blue", "re"]), false),
      (Self.rule("detail.severity", "ge", 5), true), (Self.rule("detail.place.code", "eq", "A1"), true),
      (Self.rule("detail.place.floors", "containsAny", [3, 2]), true),
      (Self.rule("details.severity", "gt", 8), true), (Self.rule("details.severity", "gt", 9), false),
    ]
    for (rule, holds) in rows { #expect(try EventFilter(Self.group([rule])).holds(for: event) == holds, "\(rule)") }
    let (yes, no) = (Self.rule("text", "eq", "fire"), Self.rule("text", "eq", "water"))
    #expect(try !EventFilter(Self.group([yes, no])).holds(for: event))
    #expect(try EventFilter(Self.group([yes, no], [yes])).holds(for: event))
  }

  @Test(
    arguments: [
      nil, [:], ["filterGroup": []], ["filterGroup": [["filters": []]]],
      ["filterGroup": [["filters": [["operator": "eq"]]]]],
      group([rule("a", "like", 1)]), group([rule("a..b", "eq", 1)]),
      group([rule("a.b.c.d.e.f.g.h.i.j.k.l.m", "eq", 1)]),
      group([rule("a", "between", [1])]), group([rule("a", "in", [])]), group([rule("a", "beginsWith", 1)]),
      group([["fieldName": "a", "operator": "eq"]]),
    ] as [JSONValue])
  func `a filter that means nothing is refused`(filter: JSONValue) {
    #expect(throws: FilterError.self) { try EventFilter(filter) }
  }

  @Test func `a filter beyond the bounds of filters is refused by the bound's number`() throws {
    var limits = FilterLimits()
    (limits.comparisons, limits.listItems, limits.depth) = (2, 2, 2)
    let rule = Self.rule("a.b", "in", [1, 2])
    #expect(throws: Never.self) { try EventFilter(Self.group([rule], [rule]), limits) }
    let refused: [(JSONValue, String)] = [
      (Self.group([rule], [rule, rule]), "at most 2 comparisons"),
      (Self.group([Self.rule("a.b.c", "eq", 1)]), "at most 2 names"),
      (Self.group([Self.rule("a", "in", [1, 2, 3])]), "1 to 2 values"),
      (Self.group([Self.rule("a", "containsAny", [1, 2, 3])]), "1 to 2 values"),
    ]
    for (filter, words) in refused {
      let error = #expect(throws: FilterError.self) { try EventFilter(filter, limits) }
      #expect(error?.message.contains(words) == true, "\(String(describing: error))")
    }
  }

  private static func serving(
    _ control: @escaping @Sendable (SubscriptionQuestion) throws -> SubscriptionControl,
    _ body: (GraphQLServer) async throws -> Void
  ) async throws {
    try await Served.with(
      schema,
      { configuration in
        configuration.subscriptionControls["onCreateAlert"] = control
        configuration.resolvers = { resolvers in
          resolvers.resolve("Mutation", "invalidate") { request in
            try await request.server?.invalidateSubscriptions(
              request.string("field") ?? "", payload: ["room": .string(request.string("room") ?? "")])
            return true
          }
        }
      }, body)
  }

  private static func invalidate(_ field: String, _ room: String, _ port: Int) async throws {
    let answer = try await HTTPRequest.graphql(
      "mutation { invalidate(field: \"\(field)\", room: \"\(room)\") }", port: port)
    try #require(answer.json["data"]?["invalidate"] == true, "\(answer.text)")
  }

  private static func create(_ text: String, severity: Int, labels: [String], _ port: Int) async throws {
    let labels = labels.map { "\"\($0)\"" }.joined(separator: ", ")
    let answer = try await HTTPRequest.graphql(
      "mutation { createAlert(input: {text: \"\(text)\", labels: [\(labels)], detail: {severity: \(severity)}}) { id } }",
      port: port)
    try #require(answer.json["errors"] == nil, "\(answer.text)")
  }

  @Test func `the program's filter holds for a subscription beside its own, by its arguments and caller`() async throws
  {
    try await Self.serving({ question in
      #expect(question.field == "onCreateAlert" && question.identity.provider == .system)
      var control = SubscriptionControl()
      let least = question.arguments["filter"]?["text"]?["ne"]?.string == "quiet" ? 5 : 1
      control.filter = Self.group([
        Self.rule("detail.severity", "ge", .int(Int64(least))), Self.rule("labels", "containsAny", ["red", "blue"]),
      ])
      return control
    }) { server in
      let talk = Talk(dialect: .appSync)
      let socket = try await talk.acknowledged(server.port)
      for (id, filter) in [("1", #"(filter: {text: {ne: "quiet"}})"#), ("2", "")] {
        socket.send(talk.start(id, "subscription { onCreateAlert\(filter) { text } }"))
        #expect(try await socket.message()["type"] == "start_ack")
      }
      try await Self.create("a", severity: 9, labels: ["green"], server.port)
      try await Self.create("b", severity: 3, labels: ["red"], server.port)
      try await Self.create("quiet", severity: 9, labels: ["red"], server.port)
      try await Self.create("c", severity: 5, labels: ["green", "blue"], server.port)
      var got: [String] = []
      for _ in 0..<4 {
        let message = try await socket.message("data")
        got.append(
          (message["id"]?.string ?? "") + (message["payload"]?["data"]?["onCreateAlert"]?["text"]?.string ?? ""))
      }
      #expect(got.sorted() == ["1c", "2b", "2c", "2quiet"])
      socket.abort()
    }
  }

  @Test(arguments: ["graphql-transport-ws", "appsync"])
  func `an invalidation ends the subscriptions that it is about, and no other`(dialect: String) async throws {
    try await Self.serving({ question in
      var control = SubscriptionControl()
      let room = question.arguments["filter"]?["text"]?["eq"] ?? .null
      control.invalidation = Self.group([Self.rule("room", "eq", room)])
      return control
    }) { server in
      let talk = Talk(dialect: dialect == "appsync" ? .appSync : .graphqlTransportWS)
      let socket = try await talk.acknowledged(server.port)
      for room in ["a", "b"] {
        socket.send(talk.start(room, "subscription { onCreateAlert(filter: {text: {eq: \"\(room)\"}}) { text } }"))
        if dialect == "appsync" {
          _ = try await socket.message("start_ack")
        } else {
          try await Self.settle(server, socket)
        }
      }
      try await Self.invalidate("onUpdateAlert", "a", server.port)
      try await Self.invalidate("onCreateAlert", "c", server.port)
      try await Self.invalidate("onCreateAlert", "a", server.port)
      let end = try await socket.message("error")
      #expect(end["id"] == "a" && "\(end)".contains("SUBSCRIPTION_INVALIDATED"), "\(end)")
      for room in ["a", "b"] { try await Self.create(room, severity: 1, labels: [], server.port) }
      let next = try await socket.message(talk.event)
      #expect(next["id"] == "b", "\(next)")
      socket.abort()
    }
  }

  /// The dialect does not say that a subscription has begun: what is sent after it is answered after it.
  private static func settle(_ server: GraphQLServer, _ socket: RawSocket) async throws {
    socket.send(#"{"type":"ping"}"#)
    _ = try await socket.message("pong")
  }

  @Test func `what a control throws, and a filter that means nothing, refuse the subscription alone`() async throws {
    try await Self.serving({ question in
      if question.arguments["filter"] == nil { throw ResolverError("Not now.", extensions: ["code": "LATER"]) }
      var control = SubscriptionControl()
      control.filter = ["filterGroup": "nothing"]
      return control
    }) { server in
      let socket = try await RawSocket.session(port: server.port)
      socket.subscribe("1", "subscription { onCreateAlert { id } }")
      #expect(try await socket.message("error")["payload"]?[0]?["extensions"]?["code"] == "LATER")
      socket.subscribe("2", "subscription { onCreateAlert(filter: {text: {eq: \"x\"}}) { id } }")
      #expect(try await socket.message("error")["payload"]?[0]?["extensions"]?["code"] == "BAD_USER_INPUT")
      socket.subscribe("3", "subscription { onUpdateAlert { id } }")
      #expect(try await socket.message("ready")["id"] == "3")
      socket.abort()
    }
  }
}
