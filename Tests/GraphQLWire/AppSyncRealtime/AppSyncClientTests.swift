import MartletJSON
import MartletVocabulary
import Testing

@testable import MartletGraphQLClientWire
@testable import MartletGraphQLWire
@testable import MartletHTTPWire
@testable import MartletWire

/// Transcripts of AppSync's real-time protocol, seen from the client.
@Suite struct AppSyncClientTests {
  private let ack = #"{"type":"connection_ack","payload":{"connectionTimeoutMs":300000}}"#
  private let blob: JSONObject = ["host": "h", "x-api-key": "k"]

  private func start(_ id: String) -> Told {
    .send(
      #"{"id":"\#(id)","type":"start","payload":{"data":"{\"query\":\"{a}\",\"variables\":{}}","#
        + #""extensions":{"authorization":{"host":"h","x-api-key":"k"}}}}"#)
  }

  @Test func `a start carries its document as text and the connection's authorization`() throws {
    var client = DialectClient.appSync
    try client.start("1")
    client.open(blob)
    #expect(client.take() == [.send(#"{"type":"connection_init"}"#)])
    client.receive(ack)
    #expect(client.take() == [.acknowledged, start("1"), .started("1")])
  }

  @Test func `variables and the operation's name travel in the text`() throws {
    var client = DialectClient.appSync.opened(payload: [:])
    try client.start(
      "1", RequestPayload(query: "query Q { a }", operationName: "Q", variables: ["s": "\"é\n"], extensions: ["x": 1]))
    guard case .send(let text) = client.take().first else {
      Issue.record("nothing sent")
      return
    }
    let payload = try #require(try JSONValue(parsing: text)["payload"])
    let data = try JSONValue(parsing: try #require(payload["data"]?.string))
    #expect(data == ["query": "query Q { a }", "variables": ["s": "\"é\n"], "operationName": "Q"])
    #expect(payload["extensions"] == ["x": 1, "authorization": [:]])
  }

  @Test func `start_ack confirms, data and complete follow`() throws {
    var client = DialectClient.appSync.opened(payload: blob)
    try client.start("1")
    client.actions = []
    client.receive(
      #"{"id":"1","type":"start_ack"}"#, #"{"id":"1","type":"data","payload":{"data":{"a":1}}}"#,
      #"{"type":"ka"}"#, #"{"id":"1","type":"complete"}"#, #"{"id":"1","type":"data","payload":{}}"#)
    #expect(client.take() == [.confirmed("1"), .next("1", #"{"data":{"a":1}}"#), .alive, .completed("1")])
  }

  @Test func `data without a confirmation is data`() throws {
    var client = DialectClient.appSync.opened()
    try client.start("1")
    client.actions = []
    client.receive(#"{"id":"1","type":"data","payload":{}}"#)
    #expect(client.take() == [.next("1", "{}")])
  }

  @Test func `silence beyond the server's own limit closes`() {
    var client = DialectClient.appSync
    client.open(blob)
    client.receive(#"{"type":"connection_ack","payload":{"connectionTimeoutMs":5000}}"#)
    client.actions = []
    client.pass(.seconds(4))
    client.receive(#"{"type":"ka"}"#)
    client.pass(.seconds(4))
    #expect(client.take() == [.alive])
    client.pass(.seconds(1))
    #expect(client.take() == [.close(4499)])
  }

  @Test(arguments: [0, -1, 9_223_372_036_854_775_807] as [Int64])
  func `a limit without sense becomes the client's own`(milliseconds: Int64) {
    var client = DialectClient.appSync
    client.open(blob)
    client.receive(#"{"type":"connection_ack","payload":{"connectionTimeoutMs":\#(milliseconds)}}"#)
    #expect(client.machine.nextDeadline == .zero + .seconds(3_600))
  }

  @Test func `no acknowledgement in time closes`() {
    var client = DialectClient.appSync
    client.open(blob)
    client.actions = []
    client.pass(.seconds(10))
    #expect(client.take() == [.close(4504)])
  }

  @Test(arguments: [
    (#"{"errors":[{"errorType":"UnauthorizedException","message":"no"}]}"#, ConnectionRetry.withNewCredentials),
    (#"{"errors":[{"errorCode":401,"message":"no"}]}"#, .withNewCredentials),
    (#"{"errors":{"errorType":"com.example#Unauthorized","errorCode":403,"message":"no"}}"#, .withNewCredentials),
    (
      #"{"errors":[{"errorType":"com.example.auth#UnauthorizedException","errorCode":400,"message":"no"}]}"#,
      .withNewCredentials
    ), (#"{"errors":[{"errorType":"UnauthorizedException","errorCode":400,"message":"no"}]}"#, .withNewCredentials),
    (#"{"errors":[{"errorType":"BadRequestException","errorCode":400,"message":"no"}]}"#, .never),
    (#"{"errors":[{"errorType":"LimitExceededError","errorCode":429,"message":"no"}]}"#, .afterBackoff),
    (#"{"errors":{"errorType":"LimitExceededError","message":"no"}}"#, .afterBackoff),
  ])
  func `an error of the connection says how to retry`(payload: String, retry: ConnectionRetry) throws {
    for text in [#"{"type":"connection_error","payload":\#(payload)}"#, #"{"type":"error","payload":\#(payload)}"#] {
      for isOpen in [false, true] {
        var client = DialectClient.appSync
        try client.start("1")
        client.open(blob)
        if isOpen { client.receive(ack) }
        client.actions = []
        client.receive(text, #"{"id":"1","type":"data","payload":{}}"#)
        #expect(client.take() == [.refused(retry, ["no"])])
        #expect(client.machine.operationCount == 1)
      }
    }
  }

  @Test func `one subscription's error leaves the others`() throws {
    var client = DialectClient.appSync.opened()
    try client.start("1")
    try client.start("2")
    try client.start("3")
    client.actions = []
    client.receive(
      #"{"id":"1","type":"error","payload":{"errors":[{"errorType":"MaxSubscriptionsReachedError","message":"full"}]}}"#,
      #"{"id":"2","type":"error","payload":{"errors":{"errorType":"UnauthorizedException","message":"no"}}}"#,
      #"{"id":"3","type":"data","payload":{}}"#)
    #expect(client.take() == [.failed("1", ["full"]), .unauthorized("2"), .next("3", "{}")])
    #expect(client.machine.operationCount == 2)
  }

  @Test func `a server of the newer protocol is named`() {
    var client = DialectClient.appSync
    client.open(blob)
    client.actions = []
    client.receive(#"{"type":"ping"}"#)
    #expect(client.take() == [.mismatched("graphql-transport-ws")])
  }

  @Test(arguments: [#"{"type":"connection_ack"}"#, #"{"type":"connection_ack","payload":{"connectionTimeout":9}}"#])
  func `an acknowledgement that leaves out the silence means AppSync's own`(text: String) throws {
    var client = DialectClient.appSync
    client.open(blob)
    try client.start("1")
    client.actions = []
    client.receive(text)
    #expect(client.take() == [.acknowledged, start("1"), .started("1")])
    #expect(client.machine.nextDeadline == .zero + .seconds(300))
    client.receive(#"{"id":"1","type":"error","payload":{"errors":[{"message":"no"}]}}"#)
    #expect(client.take() == [.failed("1", ["no"])])
  }

  @Test(arguments: [#"{"message":"Must provide a query."}"#, #"[{"message":"no"}]"#])
  func `a server of the older protocol is named when it does not understand a start`(payload: String) throws {
    var client = DialectClient.appSync
    client.open(blob)
    try client.start("1")
    client.receive(#"{"type":"connection_ack"}"#, #"{"type":"ka"}"#)
    client.actions = []
    client.receive(#"{"id":"1","type":"error","payload":\#(payload)}"#)
    #expect(client.take() == [.mismatched("graphql-ws")])
    // A server that has sent its time-out is AppSync, whatever shape its errors have.
    client = DialectClient.appSync.opened()
    try client.start("2")
    client.actions = []
    client.receive(#"{"id":"2","type":"error","payload":\#(payload)}"#)
    guard case .failed("2", _)? = client.take().first else {
      Issue.record("not the operation's own")
      return
    }
  }

  @Test(arguments: ["garbage", "[1]", #"{"id":"1"}"#, #"{"type":"data","payload":{}}"#])
  func `what is not a message closes with 4004`(text: String) {
    var client = DialectClient.appSync.opened()
    client.receive(text)
    #expect(client.take() == [.close(4004)])
  }

  @Test func `data that is not an object ends that subscription alone`() throws {
    var client = DialectClient.appSync.opened()
    try client.start("1")
    client.actions = []
    client.receive(#"{"id":"1","type":"data"}"#)
    #expect(
      client.take() == [.send(#"{"id":"1","type":"stop"}"#), .violated("1", "data whose payload is not an object")])
  }

  @Test func `cancelling stops, leaving stops everything`() throws {
    var client = DialectClient.appSync.opened(payload: blob)
    for id in 1...3 { try client.start("\(id)") }
    client.actions = []
    try client.cancel("2")
    client.receive(#"{"id":"2","type":"complete"}"#)
    #expect(client.take() == [.send(#"{"id":"2","type":"stop"}"#)])
    client.machine.leaving(actions: &client.actions)
    #expect(client.take() == [.send(#"{"id":"1","type":"stop"}"#), .send(#"{"id":"3","type":"stop"}"#)])
  }

  /// The signatures were computed apart from this package.
  @Test func `with IAM the handshake and each start are signed by themselves, at their own moment`() throws {
    let keys = RequestSigner.Keys(
      accessKeyID: "AKIDEXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")
    let moment: Int64 = 1_440_938_160_000
    let signer = AppSyncRealtime.Signer(
      keys, region: "eu-west-1", host: "abc.appsync-api.eu-west-1.amazonaws.com", target: "/graphql",
      calendar: moment - 60_000, at: .zero)
    let minute = Instant.zero + .seconds(60)
    let prefix =
      "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/eu-west-1/appsync/aws4_request, "
      + "SignedHeaders=accept;content-encoding;content-type;host;x-amz-date, Signature="
    var blob: JSONObject = [
      "accept": "application/json, text/javascript", "content-encoding": "amz-1.0",
      "content-type": "application/json; charset=UTF-8", "host": "abc.appsync-api.eu-west-1.amazonaws.com",
      "x-amz-date": "20150830T123600Z",
      "Authorization": .string(prefix + "4f571e94e6c0de4599bd0f917a748ed59489a228f30a3d457e82d61ea59eb778"),
    ]
    #expect(signer.connection(at: minute) == blob)
    var client = DialectClient.appSync
    client.machine.sign(with: signer)
    client = client.opened(payload: signer.connection(at: .zero))
    client.pass(.seconds(60))
    try client.start("1")
    guard case .send(let text)? = client.take().first else {
      Issue.record("nothing sent")
      return
    }
    blob["Authorization"] = .string(prefix + "417fa4dc959f824b0ab5c2e1bd64c109994d798b649dfef01bb2276f0246f06e")
    #expect(try JSONValue(parsing: text)["payload"]?["extensions"]?["authorization"]?.object == blob)
    // A subscription that is sent again is signed again.
    client.disconnect()
    client.pass(.seconds(1))
    client.open(blob)
    client.receive(ack)
    let again = client.take().compactMap { if case .send(let text) = $0 { text } else { nil } }.last
    #expect(again?.contains("20150830T123601Z") == true && again?.contains("417fa4dc") == false)
  }

  @Test func `lent keys put their token beside the signature`() {
    let keys = RequestSigner.Keys(
      accessKeyID: "AKIDEXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", sessionToken: "T")
    let signer = AppSyncRealtime.Signer(
      keys, region: "eu-west-1", host: "abc.appsync-api.eu-west-1.amazonaws.com", target: "/graphql?stage=1",
      calendar: 1_440_938_160_000, at: .zero)
    let blob = signer.subscription(Array(#"{"query":"{a}","variables":{}}"#.utf8), at: .zero)
    #expect(blob["X-Amz-Security-Token"] == "T")
    #expect(
      blob["Authorization"]?.string?.hasSuffix(
        "x-amz-date;x-amz-security-token, Signature=18593a7a41440a8964b5acaf5a14b2612c86084eeaa79aa29b2ab9bcd1189efb")
        == true)
  }

  @Test func `on the next socket everything is started again, with fresh authorization`() throws {
    var client = DialectClient.appSync.opened(payload: ["x-api-key": "old"])
    try client.start("1")
    client.disconnect()
    client.actions = []
    client.open(blob)
    client.receive(ack)
    #expect(client.take().suffix(2) == [start("1"), .started("1")])
  }
}
