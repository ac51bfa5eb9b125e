import MartletChangeFeed
import MartletGraphQLExecution
import MartletGraphQLLanguage
import MartletGraphQLWire
import MartletJSONTree
import MartletLoop
import MartletModels
import MartletServer
import MartletSockets
import MartletStore
import MartletTokens
import MartletTracing
import MartletTreeRules
import MartletTreeWire
import MartletWire
import Testing

/// The bounds of the modules that a server is made of follow the server's.
@Suite struct ModuleLimitTests {
  /// All bounds of a module's limits, those of limits inside them included, by their paths.
  private static func values(_ limits: Any, _ path: String = "") -> [String: String] {
    var values: [String: String] = [:]
    for child in Mirror(reflecting: limits).children {
      let name = path + (child.label ?? "")
      // Limits inside limits are structs of this package; a duration has members of its own as well.
      if "\(type(of: child.value))".hasSuffix("Limits") {
        values.merge(Self.values(child.value, name + "."), uniquingKeysWith: { $1 })
      } else {
        values[name] = "\(child.value)"
      }
    }
    return values
  }

  /// Every bound of the server at a value that differs from all defaults.
  private static func unusual() throws -> ServerLimits {
    var limits = ServerLimits()
    for setting in LimitSetting.all {
      // Pages of memory are counted in KiB, only whole seconds reach the kernel, filters nest 12 deep at most, and
      // threads have 19 steps.
      let texts = setting.name == "store.cacheBytes" ? ["61KiB"] : ["61", "61s", "7"]
      #expect(texts.contains { (try? setting.set($0, in: &limits)) != nil }, "\(setting.name)")
    }
    return limits
  }

  private static let modules: [(name: String, make: @Sendable (ServerLimits) -> Any)] = [
    ("listener", { ListenerLimits($0) }), ("loop", { LoopLimits($0) }), ("http", { HTTPLimits($0) }),
    ("batch", { BatchLimits($0) }), ("upload", { UploadLimits($0) }), ("webSocket", { WebSocketLimits($0) }),
    ("feed", { FeedLimits($0) }), ("persisted", { PersistedOperationLimits($0) }),
    ("execution", { ExecutionLimits($0) }), ("filter", { FilterLimits($0.query) }), ("store", { StoreLimits($0) }),
    ("shared stream", { SessionMachines.sharedStream($0) }),
    ("transport-ws", { SessionMachines.graphqlTransportWS($0) }),
    ("legacy", { SessionMachines.graphqlWS($0) }), ("appSync", { SessionMachines.appSync($0) }),
    ("token", { TokenLimits($0) }), ("key set", { KeySetLimits($0) }), ("log", { LogLimits($0) }),
    ("spans", { SpanLimits($0) }),
    ("tree", { TreeLimits($0.tree) }), ("tree wire", { TreeWireLimits($0.tree) }), ("rules", { RuleLimits($0.tree) }),
  ]

  @Test func `every bound of every module is set by one of the server's`() throws {
    let unusual = try Self.unusual()
    for module in Self.modules {
      var values = Self.values(module.make(unusual))
      #expect(!values.isEmpty)
      // Each endpoint has a bound of its own, and its own answer to a longer body.
      if module.name == "http" { #expect(values.removeValue(forKey: "bodyBytes") == "\(Int.max)") }
      for (name, value) in values {
        let isSet = value.contains("61") || value == "7" && ["depth", "listNiceness"].contains(name)
        #expect(isSet, "\(module.name).\(name) is \(value): no bound of ServerLimits sets it")
      }
    }
  }

  @Test func `the server's defaults are the modules', except where it says otherwise`() {
    let limits = ServerLimits()
    #expect(Self.values(LoopLimits(limits)) == Self.values(LoopLimits()))
    #expect(Self.values(FeedLimits(limits)) == Self.values(FeedLimits()))
    #expect(Self.values(UploadLimits(limits)) == Self.values(UploadLimits()))
    #expect(Self.values(PersistedOperationLimits(limits)) == Self.values(PersistedOperationLimits()))
    func differing(_ own: Any, _ usual: Any) -> Set<String> {
      let usual = Self.values(usual)
      return Set(Self.values(own).filter { usual[$0.key] != $0.value }.keys)
    }
    // A process has to keep descriptors for files; HTTP bodies have two bounds; pings are answered by browsers in
    // sleep; the writer's queue is what one process can answer in time; pages have no bound outside of a server.
    #expect(differing(ListenerLimits(limits), ListenerLimits()) == ["connections"])
    #expect(differing(HTTPLimits(limits), HTTPLimits()) == ["bodyBytes"])
    #expect(differing(WebSocketLimits(limits), WebSocketLimits()) == ["pongTimeout"])
    #expect(differing(StoreLimits(limits), StoreLimits()) == ["queuedWrites", "queuedReads"])
    #expect(differing(ExecutionLimits(limits), ExecutionLimits()) == ["cachedPlans", "validation.largestPage"])
    #expect(differing(FilterLimits(limits.query), FilterLimits()).isEmpty)
    #expect(differing(SessionMachines.graphqlTransportWS(limits), GraphQLTransportWS.ServerLimits()).isEmpty)
    #expect(differing(SessionMachines.graphqlWS(limits), StartStopServerLimits()).isEmpty)
    #expect(differing(TreeLimits(limits.tree), TreeLimits()).isEmpty)
    #expect(differing(TreeWireLimits(limits.tree), TreeWireLimits()).isEmpty)
    #expect(differing(RuleLimits(limits.tree), RuleLimits()).isEmpty)
    #expect(differing(SessionMachines.sharedStream(limits), SharedStreamLimits()).isEmpty)
    #expect(differing(TokenLimits(limits), TokenLimits()).isEmpty)
    #expect(differing(KeySetLimits(limits), KeySetLimits()).isEmpty)
    #expect(differing(LogLimits(limits), LogLimits()).isEmpty)
    #expect(differing(SpanLimits(limits), SpanLimits()).isEmpty)
  }
}
