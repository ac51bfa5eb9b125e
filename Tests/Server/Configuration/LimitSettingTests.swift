import MartletServer
import MartletVocabulary
import Testing

/// The bounds of a server by their names.
@Suite struct LimitSettingTests {
  /// The values of all properties by `group.property`, as text.
  private static func values(_ limits: ServerLimits) -> [String: String] {
    var values: [String: String] = [:]
    for group in Mirror(reflecting: limits).children {
      for property in Mirror(reflecting: group.value).children {
        values["\(group.label ?? "").\(property.label ?? "")"] = "\(property.value)"
      }
    }
    return values
  }

  @Test func `every bound has a setting, and every setting a bound`() {
    let names = LimitSetting.all.map(\.name)
    #expect(Set(names) == Set(Self.values(ServerLimits()).keys))
    #expect(names.count == Set(names).count)
  }

  @Test(arguments: LimitSetting.all.map(\.name))
  func `a setting changes the bound of its name and no other`(name: String) throws {
    let before = Self.values(ServerLimits())
    var limits = ServerLimits()
    let setting = try LimitSetting.named(name)
    // Durations have a unit, and filters nest 12 deep at most.
    let text = try #require(["61", "61s", "7"].first { (try? setting.set($0, in: &limits)) != nil })
    let changed = Self.values(limits).filter { before[$0.key] != $0.value }
    #expect(changed.map(\.key) == [name])
    #expect(changed[name]?.contains(text == "7" ? "7" : "61") == true)
  }

  @Test func `bytes, durations and none are read`() throws {
    var limits = ServerLimits()
    for text in [
      "http.bodyBytes=4MiB", "http.requestTimeout=200ms", "webSocket.appSyncLifetime=none",
      "http.connectionsPerHost=7", "query.persistedOperations=0", "store.retention=2h",
    ] {
      try limits.set(text)
    }
    #expect(limits.http.bodyBytes == 4_194_304 && limits.http.requestTimeout == .milliseconds(200))
    #expect(limits.webSocket.appSyncLifetime == nil && limits.http.connectionsPerHost == 7)
    #expect(limits.query.persistedOperations == 0 && limits.store.retention == .seconds(7_200))
  }

  @Test(arguments: [
    ("http.bodyBites=1", "There is no limit 'http.bodyBites'. Did you mean http.bodyBytes?"),
    ("bodyBytes=1", "There is no limit 'bodyBytes'. Did you mean http.bodyBytes?"),
    ("xyz=1", "There is no limit 'xyz'."),
    ("http.bodyBytes", "'http.bodyBytes' is not NAME=VALUE, such as http.bodyBytes=4MiB."),
    (
      "http.bodyBytes=0",
      "http.bodyBytes must be a number of bytes, such as 65536, 64KiB or 1MiB, from 1 to 1099511627776, not '0'."
    ),
    ("http.eventsPerTurn=257", "http.eventsPerTurn must be a whole number from 1 to 256, not '257'."),
    ("http.connections=many", "http.connections must be a whole number from 1 to 1099511627776, not 'many'."),
    ("http.connections=4KiB", "http.connections must be a whole number from 1 to 1099511627776, not '4KiB'."),
    ("http.idleTimeout=none", "http.idleTimeout must be a duration such as 30s, 200ms, 5m or 7d, not 'none'."),
    (
      "webSocket.appSyncLifetime=-1",
      "webSocket.appSyncLifetime must be a duration such as 30s, 200ms, 5m or 7d, or none, not '-1'."
    ),
    (
      "http.bodyBytes=9223372036854775807KiB",
      "http.bodyBytes must be a number of bytes, such as 65536, 64KiB or 1MiB, from 1 to 1099511627776, "
        + "not '9223372036854775807KiB'."
    ),
  ])
  func `a setting that cannot be read names what was wrong`(text: String, message: String) {
    var limits = ServerLimits()
    #expect { try limits.set(text) } throws: { "\($0)" == message }
  }
}
