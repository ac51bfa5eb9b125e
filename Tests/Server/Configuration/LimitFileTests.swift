import MartletServer
import Testing

/// Limits from a JSON file, by the names of `ServerLimits`.
@Suite struct LimitFileTests {
  private func limits(_ text: String) throws -> ServerLimits {
    var limits = ServerLimits()
    try limits.set(json: Array(text.utf8))
    return limits
  }

  @Test func `a file sets the bounds it names and no others`() throws {
    let limits = try limits(
      """
      {
        "http": {"bodyBytes": "4MiB", "connections": 500, "connectionsPerHost": null},
        "webSocket": {"appSyncLifetime": null, "keepAliveInterval": "10s"},
        "access": {"tokenBytes": 1000}, "log": {"repeats": 7}, "console": {"changes": 9}, "query": {}
      }
      """)
    var expected = ServerLimits()
    for text in [
      "http.bodyBytes=4MiB", "http.connections=500", "http.connectionsPerHost=none", "webSocket.appSyncLifetime=none",
      "webSocket.keepAliveInterval=10s", "access.tokenBytes=1000", "log.repeats=7", "console.changes=9",
    ] {
      try expected.set(text)
    }
    #expect("\(limits)" == "\(expected)")
  }

  @Test func `every limit can be set by a file`() throws {
    for setting in LimitSetting.all {
      let parts = setting.name.split(separator: ".")
      let value = setting.name == "store.cacheBytes" ? #""61KiB""# : "61"
      // Durations have a unit, and filters nest 12 deep at most.
      let both = [value, #""61s""#, "7"].map { "{\"\(parts[0])\": {\"\(parts[1])\": \($0)}}" }
      let set = both.compactMap { try? limits($0) }
      #expect(set.contains { "\($0)" != "\(ServerLimits())" }, "\(setting.name)")
    }
  }

  @Test(arguments: [
    ("{\n  \"http\": {\n    \"bodyByte\": 1}}", "3:5: There is no limit 'http.bodyByte'. Did you mean http.bodyBytes?"),
    ("{\"htpp\": {}}", "1:2: There is no group of limits 'htpp'. Did you mean http?"),
    ("{\"é\": 1, \"http\": 3}", "1:2: There is no group of limits 'é'."),
    ("{\"http\": 3}", "1:10: http is an object of limits such as {\"connections\": …}."),
    ("[]", "1:1: Limits are a JSON object of groups such as \"http\"."),
    (
      "{\"http\": {\"connections\": 1.5}}",
      "1:26: http.connections must be a whole number from 1 to 1099511627776, not '1.5'."
    ),
    (
      "{\"http\": {\"connections\": true}}",
      "1:26: http.connections must be a whole number from 1 to 1099511627776, not 'true'."
    ),
    (
      "{\"http\": {\"idleTimeout\": null}}",
      "1:26: http.idleTimeout must be a duration such as 30s, 200ms, 5m or 7d, not 'none'."
    ),
    (
      "{\"http\": {\"idleTimeout\": true}}",
      "1:26: http.idleTimeout must be a duration such as 30s, 200ms, 5m or 7d, not 'true'."
    ),
    ("{\"http\": {\"connections\": 1, \"connections\": 2}}", "1:30: JSON, byte 29: this member occurs twice"),
    ("{\"http\": ", "1:10: JSON, byte 9: the text ends inside a value"),
    ("", "1:1: JSON, byte 0: the text ends inside a value"),
  ])
  func `a file that is wrong is refused with the place and the name`(text: String, message: String) {
    var limits = ServerLimits()
    #expect {
      try limits.set(json: Array(text.utf8))
    } throws: {
      #expect("\($0)" == message)
      return true
    }
  }

  @Test func `a file with one wrong bound sets none`() {
    var limits = ServerLimits()
    #expect(throws: LimitFileError.self) {
      try limits.set(json: Array(#"{"http": {"connections": 5, "bodyBytes": 0}}"#.utf8))
    }
    #expect(limits.http.connections == ServerLimits().http.connections)
  }
}
