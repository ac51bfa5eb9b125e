import MartletJSON
import MartletJSONTree
import Testing

@testable import MartletTreeWire

@Suite struct RESTTests {
  static let node: JSONValue = ["a": ["n": 3], "b": ["n": 1], "c": ["n": 2], "d": true, "10": ["n": 2], "9": 0]

  private static func answer(_ query: String) throws -> String {
    let parameters = query.split(separator: "&").map { pair in
      let parts = pair.split(separator: "=", maxSplits: 1)
      return (name: String(parts[0]), value: parts.count > 1 ? String(parts[1]) : "")
    }
    return try RESTQuery(parameters).json(of: TreeReader().read(node)).description
  }

  @Test(arguments: [
    ("shallow=true", #"{"9":true,"10":true,"a":true,"b":true,"c":true,"d":true}"#),
    (#"orderBy="$key"&limitToFirst=2"#, #"{"9":0,"10":{"n":2}}"#),
    (#"orderBy="$key"&startAt="c""#, #"{"c":{"n":2},"d":true}"#),
    (#"orderBy="$key"&startAfter="c""#, #"{"d":true}"#),
    (#"orderBy="n"&equalTo=2"#, #"{"10":{"n":2},"c":{"n":2}}"#),
    (#"orderBy="n"&startAt=2&limitToLast=1"#, #"{"a":{"n":3}}"#),
    (#"orderBy="n"&endBefore=2&startAt=1"#, #"{"b":{"n":1}}"#),
    (#"orderBy="n"&equalTo=null"#, #"{"9":0,"d":true}"#),
    (#"orderBy="$value"&endAt=true"#, #"{"d":true}"#),
    (#"orderBy="$value"&equalTo=0"#, #"{"9":0}"#),
    ("print=pretty&timeout=3s&unknown=1", #"{"9":0,"10":{"n":2},"a":{"n":3},"b":{"n":1},"c":{"n":2},"d":true}"#),
  ])
  func `a query's parameters choose children`(query: String, expected: String) throws {
    #expect(try Self.answer(query) == expected)
  }

  @Test(arguments: [
    ("limitToFirst=2", "orderBy must be defined when other query parameters are defined"),
    ("orderBy=n", "orderBy must be a valid JSON value"), ("orderBy=1", "orderBy must be a valid JSON encoded path"),
    (#"orderBy="a.b""#, "orderBy must be a valid JSON encoded path"),
    (#"orderBy="$key"&limitToFirst=0"#, "limitToFirst must be a positive integer"),
    (#"orderBy="$key"&limitToFirst=1&limitToLast=1"#, "only one of limitToFirst and limitToLast can be used"),
    (#"orderBy="$key"&startAt=1"#, "startAt must be a text when children are ordered by key"),
    (#"orderBy="n"&startAt={}"#, "startAt must be null, a boolean, a number or a text"),
    (#"orderBy="n"&startAt=1&startAfter=1"#, "the start of the range is defined twice"),
    (#"orderBy="n"&startAt=1&equalTo=1"#, "equalTo cannot be combined with another range"),
    (#"orderBy="n"&shallow=true"#, "shallow cannot be combined with other query parameters"),
    ("print=loud", "print is pretty or silent"),
    ("timeout=16min", "timeout is a number with ms, s or min, at most 15min"),
    ("writeSizeLimit=huge", "writeSizeLimit is tiny, small, medium, large or unlimited"),
  ])
  func `a query that cannot be is refused with a message`(query: String, message: String) {
    #expect(throws: RESTQueryError(message)) { try Self.answer(query) }
  }

  @Test func `events of a stream have their names and data`() {
    let events: [RESTEvent] = [
      .put(.root, ["a": 1]), .patch(["x"], ["b": nil]), .keepAlive, .cancel, .authRevoked("token expired"),
    ]
    #expect(
      events.map { String(decoding: $0.bytes, as: UTF8.self) } == [
        "event: put\ndata: {\"path\":\"/\",\"data\":{\"a\":1}}\n\n",
        "event: patch\ndata: {\"path\":\"/x\",\"data\":{\"b\":null}}\n\n", "event: keep-alive\ndata: null\n\n",
        "event: cancel\ndata: null\n\n", "event: auth_revoked\ndata: \"token expired\"\n\n",
      ])
  }
}

@Suite struct WireFormTests {
  @Test func `windows survive their form on the wire`() throws {
    let windows = [
      Window(order: .key, start: .key("a"), end: .key("b", isIncluded: false), limit: .first(3)),
      Window(order: .value, start: .excluding(.scalar(.int(1))), limit: .last(2)),
      Window(order: .child(["n", "m"]), start: .including(.null, key: "k"), end: .including(.scalar(.string("x")))),
      Window.equal(to: .scalar(.bool(true)), key: "k", order: .priority), Window(order: .priority, limit: .last(1)),
      Window.all,
    ]
    for window in windows { #expect(try WireWindow.read(WireWindow.json(of: window), at: .root) == window) }
    #expect(WireWindow.json(of: Window(order: .value)) == nil)
  }

  @Test(arguments: [
    #"{"l":"x"}"#, #"{"l":-1}"#, #"{"sp":1,"i":".key"}"#, #"{"sp":{},"i":"a"}"#, #"{"i":3}"#, #"{"i":"a.b"}"#, "3",
  ])
  func `a query that cannot be is refused`(text: String) throws {
    let json = try JSONValue(parsing: text)
    #expect(throws: TreeWireError.self) { try WireWindow.read(json, at: .root) }
  }

  /// Computed with another implementation of SHA-1 over the texts of the documented form.
  @Test(arguments: [
    ("null", ""),
    (#"true"#, "E5z61QM0lN/U2WsOnusszCTkR8M="),
    (#"5"#, "w28swksk9+tXf5jEdS9R5oSFAv8="),
    (#"-0.5"#, "/r6we9NY8SVfOWrAH6omHfBJtYA="),
    (#""héllo""#, "efk23CQ3RaejCSSm7FPChxRZw0k="),
    (#"{"a":1}"#, "gIphxiFGusLh2VwSNVKSvNu90m4="),
    (#"{"2":"x","10":{"y":false}}"#, "nt2AP+TwF+vDrhHVrZLA+89MnEw="),
    (#"{".value":1,".priority":"p"}"#, "s13vB6y8qX48gxbXkr8YCSDaUwM="),
    (#"{"a":1,".priority":3}"#, "4dRhArPugqejHTgU57/GghV01fk="),
  ])
  func `the hash of a node is the documented one`(text: String, hash: String) throws {
    #expect(TreeHash.hash(try TreeReader().read(JSONValue(parsing: text))) == hash)
  }

  @Test func `long messages are cut at characters and joined again`() throws {
    var limits = TreeWireLimits()
    limits.frameBytes = 5
    let message = Array(#"{"a":"é\#u{1F600}日本","b":1}"#.utf8)
    let frames = TreeFraming.frames(of: message, limits: limits)
    #expect(frames.first == String(frames.count - 1))
    #expect(frames.dropFirst().allSatisfy { $0.utf8.count <= 5 })
    var reader = TreeFrameReader(limits: limits)
    var joined: [UInt8]?
    for frame in frames { joined = try reader.read(frame) }
    #expect(joined == message)
    #expect(try reader.read(TreeFraming.keepAlive) == nil)
  }
}
