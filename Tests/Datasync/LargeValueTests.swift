import Martlet
import MartletDatasync
import MartletJSON
import MartletServer
import Testing

/// Values that the server sends in parts, as an application sees them.
@Suite struct LargeValueTests {
  private func serve(_ body: (GraphQLServer) async throws -> Void) async throws {
    try await TreeServing.with(
      {
        $0.limits.tree.partBytes = 300
        $0.limits.tree.readsAtOnce = 1
      }, body)
  }

  private static func list(_ count: Int) -> JSONValue {
    var object = JSONObject()
    for number in 0..<count { object["k\(1_000 + number)"] = ["n": .int(Int64(number)), "text": "some text"] }
    return .object(object)
  }

  @Test func `a large value is one value event, its children are additions in order, and both are up to date`()
    async throws
  {
    try await serve { server in
      let writer = try TreeServing.application(server).datasyncService.createManager().nodeThrows(for: "/open/list")
      try await writer.set(Self.list(300)).acknowledged()
      let manager = TreeServing.application(server).datasyncService.createManager()
      let node = try manager.nodeThrows(for: "/open/list")
      var children = try node.events(.children).makeAsyncIterator()
      var values = try node.events(.valueChange).makeAsyncIterator()
      var previous: String?
      for number in 0..<300 {
        let event = try await children.next()
        #expect(event?.eventType == .childAddition)
        #expect(event?.key == "k\(1_000 + number)")
        #expect(event?.previousChildKey == previous)
        previous = event?.key
      }
      #expect(try await values.next()?.value.json == Self.list(300))
      try await (writer / "k1007/n")?.set("new").acknowledged()
      let changed = try await children.next()
      #expect(changed?.eventType == .childChange)
      #expect(changed?.value.json == ["n": "new", "text": "some text"])
      #expect(try await values.next()?.value["k1007"]["n"].asString == "new")
    }
  }

  @Test func `one's own writes show at once while the value is loaded, and end acknowledged`() async throws {
    try await serve { server in
      let writer = try TreeServing.application(server).datasyncService.createManager().nodeThrows(for: "/open/list")
      try await writer.set(Self.list(400)).acknowledged()
      let manager = TreeServing.application(server).datasyncService.createManager()
      let node = try manager.nodeThrows(for: "/open/list")
      let events = try node.events(.childEvent)
      let own = try (node / "k1200")?.set("own")
      var iterator = events.makeAsyncIterator()
      var shown: [String: String] = [:]
      while shown["k1399"] == nil || shown["k1200"] != "true" {
        guard let event = try await iterator.next() else { break }
        if event.eventType != .childAcknowledgement || event.key == "k1200" {
          shown[event.key] = "\(event.isAcknowledged)"
        }
        if event.key == "k1200" { #expect(event.value.asString == "own") }
      }
      try await own?.acknowledged()
      #expect(shown.count == 400)
    }
  }

  @Test func `listeners of the node, below it and above it end with the same values`() async throws {
    try await serve { server in
      let writer = try TreeServing.application(server).datasyncService.createManager().nodeThrows(for: "/open")
      try await writer.set(["list": Self.list(200), "other": 1]).acknowledged()
      let manager = TreeServing.application(server).datasyncService.createManager()
      let inner = try manager.nodeThrows(for: "/open/list/k1100").events(.valueChange)
      let whole = try manager.nodeThrows(for: "/open/list").events(.valueChange)
      let above = try manager.nodeThrows(for: "/open").events(.valueChange)
      async let written: Void = {
        for number in 0..<20 { try await (writer / "list/k1100/n")?.set(1_000 + number).acknowledged() }
      }()
      func last(_ events: DatasyncEvents, _ number: (DatasyncValue) -> Int?) async throws {
        for try await event in events where number(event.value) == 1_019 { return }
      }
      try await last(inner) { $0["n"].asInt }
      try await last(whole) { $0["k1100"]["n"].asInt }
      try await last(above) { $0["list"]["k1100"]["n"].asInt }
      try await written
      #expect(try await manager.nodeThrows(for: "/open").cachedValue().value.keys == ["list", "other"])
    }
  }
}
