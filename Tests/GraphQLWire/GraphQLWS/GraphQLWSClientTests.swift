import MartletJSON
import MartletVocabulary
import Testing

@testable import MartletGraphQLClientWire
@testable import MartletGraphQLWire

/// Transcripts of the older `graphql-ws`, seen from the client.
@Suite struct GraphQLWSClientTests {
  @Test func `operations wait for the acknowledgement and keep their order`() throws {
    var client = DialectClient.graphqlWS
    try client.start("1")
    client.open(["authToken": "t"])
    try client.start("2")
    #expect(client.take() == [.send(#"{"type":"connection_init","payload":{"authToken":"t"}}"#)])
    client.receive(#"{"type":"connection_ack"}"#, #"{"type":"connection_ack"}"#)
    #expect(
      client.take() == [
        .acknowledged, .send(#"{"id":"1","type":"start","payload":{"query":"{a}"}}"#), .started("1"),
        .send(#"{"id":"2","type":"start","payload":{"query":"{a}"}}"#), .started("2"),
      ])
  }

  @Test func `without credentials the payload is an empty object`() {
    var client = DialectClient.graphqlWS
    client.open()
    #expect(client.take() == [.send(#"{"type":"connection_init","payload":{}}"#)])
  }

  @Test func `events, completion, and errors in every shape peers use`() throws {
    var client = DialectClient.graphqlWS.opened()
    for id in 1...6 { try client.start("\(id)") }
    client.actions = []
    client.receive(
      #"{"id":"1","type":"data","payload":{"data":null,"errors":[]}}"#, #"{"id":1,"type":"data","payload":{}}"#,
      #"{"id":"1","type":"complete","payload":null}"#,
      #"{"id":"2","type":"error","payload":{"message":"object"}}"#,
      #"{"id":"3","type":"error","payload":[{"message":"list"},{"message":"two"}]}"#,
      #"{"id":"4","type":"error","payload":{"errors":[{"message":"inner"}]}}"#,
      #"{"id":"5","type":"error","payload":"text"}"#, #"{"id":"6","type":"error"}"#)
    #expect(
      client.take() == [
        .next("1", #"{"data":null,"errors":[]}"#), .next("1", "{}"), .completed("1"), .failed("2", ["object"]),
        .failed("3", ["list", "two"]), .failed("4", ["inner"]), .failed("5", ["text"]), .failed("6", []),
      ])
    #expect(client.machine.operationCount == 0)
  }

  @Test func `messages for ids it does not know are ignored`() throws {
    var client = DialectClient.graphqlWS.opened()
    client.receive(
      #"{"id":"9","type":"data","payload":{}}"#, #"{"id":"9","type":"complete"}"#, #"{"type":"novel"}"#)
    #expect(client.take().isEmpty)
    let machine = try #require(client.machine as? GraphQLWS.ClientMachine)
    #expect(machine.strayMessages == 2 && machine.unknownMessages == 1)
  }

  @Test func `cancelling sends stop once, and nothing for what was never sent`() throws {
    var client = DialectClient.graphqlWS
    try client.start("0")
    try client.cancel("0")
    #expect(client.take().isEmpty)
    client = client.opened()
    try client.start("1")
    client.actions = []
    try client.cancel("1")
    try client.cancel("1")
    client.receive(#"{"id":"1","type":"data","payload":{}}"#, #"{"id":"1","type":"complete"}"#)
    #expect(client.take() == [.send(#"{"id":"1","type":"stop"}"#)])
  }

  @Test func `on the next socket subscriptions are sent again, other operations are lost`() throws {
    var client = DialectClient.graphqlWS.opened()
    try client.start("1")
    try client.start("2", repetition: .never)
    try client.start("3", repetition: .ifWritesAreAgreed)
    client.actions = []
    client.disconnect()
    #expect(client.take() == [.lost("2"), .lost("3")])
    client = client.opened()
    #expect(client.machine.operationCount == 1)
    client.disconnect()
    client.open()
    client.receive(#"{"type":"connection_ack","payload":null}"#)
    #expect(client.take().suffix(2) == [.send(#"{"id":"1","type":"start","payload":{"query":"{a}"}}"#), .started("1")])
  }

  @Test func `silence means nothing until a first keep-alive has come`() throws {
    var client = DialectClient.graphqlWS.opened()
    #expect(client.machine.nextDeadline == nil)
    client.receive(#"{"type":"ka"}"#)
    #expect(client.take() == [.alive])
    client.pass(.seconds(29))
    client.receive(#"{"type":"ka"}"#)
    client.pass(.seconds(29))
    #expect(client.take() == [.alive])
    client.pass(.seconds(1))
    #expect(client.take() == [.close(4499)])
  }

  @Test func `no acknowledgement in time closes`() {
    var client = DialectClient.graphqlWS
    client.open()
    client.receive(#"{"type":"ka"}"#)
    client.actions = []
    client.pass(.seconds(10))
    #expect(client.take() == [.close(4504)])
  }

  @Test(
    arguments: [
      (#"{"type":"connection_error","payload":{"message":"Missing auth token!"}}"#, ["Missing auth token!"]),
      (#"{"type":"connection_error"}"#, []), (#"{"type":"connection_error","payload":{}}"#, ["-"]),
    ] as [(String, [String])])
  func `connection_error before the acknowledgement asks for new credentials`(text: String, messages: [String]) throws {
    var client = DialectClient.graphqlWS
    try client.start("1")
    client.open()
    client.actions = []
    client.receive(text, #"{"type":"connection_ack"}"#)
    #expect(client.take() == [.refused(.withNewCredentials, messages)])
    #expect(client.machine.operationCount == 1)
  }

  @Test func `connection_error later is a reason to try again`() {
    var client = DialectClient.graphqlWS.opened()
    client.receive(#"{"type":"connection_error","payload":{"message":"restarting"}}"#)
    #expect(client.take() == [.refused(.afterBackoff, ["restarting"])])
    client = DialectClient.graphqlWS.opened()
    client.receive(#"{"type":"connection_error","payload":{"message":"Unauthorized"}}"#)
    #expect(client.take() == [.refused(.withNewCredentials, ["Unauthorized"])])
  }

  @Test(arguments: [
    #"{"message":"Unauthorized"}"#, #"[{"message":"x","extensions":{"code":"UNAUTHENTICATED"}}]"#,
    #"{"message":"Unauthorised: token expired"}"#, #"{"message":"x","errorCode":401}"#,
  ])
  func `an operation refused for its credentials stays open for new ones`(payload: String) throws {
    var client = DialectClient.graphqlWS.opened()
    try client.start("1", repetition: .never)
    client.actions = []
    client.receive(#"{"id":"1","type":"error","payload":\#(payload)}"#)
    #expect(client.take() == [.unauthorized("1")])
    client.disconnect()
    #expect(client.take().isEmpty && client.machine.operationCount == 1)
  }

  @Test(arguments: [
    (#"{"type":"next","id":"1","payload":{}}"#, "graphql-transport-ws"), (#"{"type":"ping"}"#, "graphql-transport-ws"),
    (#"{"type":"start_ack","id":"1"}"#, "AppSync's graphql-ws"),
    (#"{"type":"connection_ack","payload":{"connectionTimeoutMs":300000}}"#, "AppSync's graphql-ws"),
  ])
  func `a server of another protocol is named`(text: String, name: String) {
    var client = DialectClient.graphqlWS.opened()
    client.receive(text)
    #expect(client.take() == [.mismatched(name)])
    client.receive(#"{"type":"ka"}"#)
    #expect(client.take().isEmpty)
  }

  @Test(arguments: ["garbage", "[1]", #"{"id":"1"}"#, #"{"type":"data","payload":{}}"#])
  func `what is not a message closes with 4004`(text: String) {
    var client = DialectClient.graphqlWS.opened()
    client.receive(text)
    #expect(client.take() == [.close(4004)])
  }

  @Test func `an operation's message before the acknowledgement closes with 4004`() {
    var client = DialectClient.graphqlWS
    client.open()
    client.actions = []
    client.receive(#"{"id":"1","type":"data","payload":{}}"#)
    #expect(client.take() == [.close(4004)])
  }

  @Test func `data that is not an object ends that operation alone`() throws {
    var client = DialectClient.graphqlWS.opened()
    try client.start("1")
    try client.start("2")
    client.actions = []
    client.receive(#"{"id":"1","type":"data","payload":7}"#, #"{"id":"2","type":"data","payload":{}}"#)
    #expect(
      client.take() == [
        .send(#"{"id":"1","type":"stop"}"#), .violated("1", "data whose payload is not an object"), .next("2", "{}"),
      ])
  }

  @Test func `leaving says so on an open session`() {
    var client = DialectClient.graphqlWS.opened()
    client.machine.leaving(actions: &client.actions)
    #expect(client.take() == [.send(#"{"type":"connection_terminate"}"#)])
    client = .graphqlWS
    client.open()
    client.actions = []
    client.machine.leaving(actions: &client.actions)
    #expect(client.take().isEmpty)
  }
}
