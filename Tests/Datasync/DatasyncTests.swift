import Foundation
import MartletDatasync
import MartletServer
import Testing

struct Contact: Codable, Equatable {
  var name: String
  var tags: [String]?
}

/// The tree's client against this package's server, over sockets.
@Suite struct DatasyncTests {
  private func node(_ application: MartletApplication, _ path: String) throws -> DatasyncNode {
    try application.datasyncService.createManager().nodeThrows(for: path)
  }

  @Test func `children are reported at first, then as they change, with the acknowledgement of one's own writes`()
    async throws
  {
    try await TreeServing.with { server in
      let (one, two) = (TreeServing.application(server), TreeServing.application(server))
      try await node(one, "/open/list").set(["a": 1]).acknowledged()
      let list = try node(two, "open/list")
      let events = try list.events(.childEvent)
      var iterator = events.makeAsyncIterator()
      #expect(try await iterator.next()?.line == "added a 1")
      try await events.ready()
      let write = try (list / "b")?.set(2)
      #expect(try await iterator.next()?.line == "added b 2 after a pending")
      #expect(try await iterator.next()?.line == "acknowledged b 2 after a")
      try await write?.acknowledged()
      try await node(one, "/open/list/a").set(3).acknowledged()
      #expect(try await iterator.next()?.line == "changed a 3")
      try await node(one, "/open/list/a").clear().acknowledged()
      #expect(try await iterator.next()?.line == "removed a 3")
      events.cancel()
      #expect(try await iterator.next() == nil)
    }
  }

  @Test func `replacing the parent acknowledges each child that it wrote`() async throws {
    try await TreeServing.with { server in
      let application = TreeServing.application(server)
      let list = try node(application, "/open/list")
      let events = try list.events(.childEvent)
      try await events.ready()
      var iterator = events.makeAsyncIterator()
      try node(application, "/open").set(["list": ["a": 1, "b": 2]])
      #expect(try await iterator.next()?.line == "added a 1 pending")
      #expect(try await iterator.next()?.line == "added b 2 after a pending")
      #expect(try await iterator.next()?.line == "acknowledged a 1")
      #expect(try await iterator.next()?.line == "acknowledged b 2 after a")
      try node(application, "/open").clear()
      #expect(try await iterator.next()?.line == "removed a 1 pending")
      #expect(try await iterator.next()?.line == "removed b 2 pending")
      #expect(try await iterator.next()?.line == "acknowledged a null")
      #expect(try await iterator.next()?.line == "acknowledged b null")
    }
  }

  @Test func `a refused write is taken back and names its rule`() async throws {
    try await TreeServing.with { server in
      let application = TreeServing.application(server)
      let number = try node(application, "/open/number")
      let events = try number.events(.value(change: true, acknowledgement: true, rejection: true))
      var iterator = events.makeAsyncIterator()
      #expect(try await iterator.next()?.line == "value number null")
      let write = try number.set("text")
      #expect(try await iterator.next()?.line == "value number \"text\" pending")
      let error = await #expect(throws: DatasyncError.self) { try await write.acknowledged() }
      #expect(error?.code == .denied)
      #expect(error?.message.contains("/open/number/.validate") == true)
      #expect(try await iterator.next()?.line == "value number null")
      let rejection = try #require(try await iterator.next()?.rejection)
      #expect(rejection.writeID == write.id)
      #expect(rejection.reason.contains("/open/number/.validate"))
    }
  }

  @Test func `a node that may not be read is a revocation, and so is one that may no longer be`() async throws {
    try await TreeServing.with { server in
      let application = TreeServing.application(server)
      let denied = try node(application, "/private").events(.valueChange)
      await #expect(throws: DatasyncError.self) { for try await _ in denied {} }
      let transcript = Transcript()
      let manager = application.datasyncService.createManager()
      let subscription = try manager.nodeThrows(for: "open").subscribe(to: .valueChange) {
        transcript.add($0.line)
      } onCompletion: { completion in
        if case .revocation(let reason) = completion { transcript.add("revoked \(reason.kind)") }
      }
      #expect(await transcript.wait(1) == ["value open null"])
      try await server.reload(treeRules: #"{"rules": {}}"#)
      #expect(await transcript.wait(2) == ["value open null", "revoked rules"])
      guard case .completed(.revocation) = subscription.state else {
        Issue.record("the subscription runs")
        return
      }
      withExtendedLifetime(manager) {}
    }
  }

  @Test func `values are read with where they come from, and what is not known is an error`() async throws {
    try await TreeServing.with { server in
      let application = TreeServing.application(server) { $0.readTimeout = .milliseconds(1) }
      let contacts = try node(application, "/open/contacts")
      try await contacts.set(["x": Contact(name: "Ada", tags: ["a", "b"]), "y": Contact(name: "Bob")]).acknowledged()
      let reading = try await contacts.value()
      #expect(reading.source == .server)
      #expect(reading.revision != nil)
      #expect(reading.value.isAcknowledged)
      #expect(reading.value.decoded(as: [String: Contact].self)?["x"] == Contact(name: "Ada", tags: ["a", "b"]))
      let list: [Contact]? = reading.value.decoded()
      #expect(list?.map(\.name) == ["Ada", "Bob"])
      #expect(try await contacts.value(as: [String: Contact].self, window: .first(1))?.count == 1)
      #expect(try await (contacts / "none")?.value(as: Contact.self) == nil)
      application.datasyncService.isConnectionEnabled = false
      let error = await #expect(throws: DatasyncError.self) { try await contacts.value() }
      #expect(error?.code == .unknownValue)
    }
  }

  @Test func `merges, pushes, increments and transactions`() async throws {
    try await TreeServing.with { server in
      let application = TreeServing.application(server)
      let base = try node(application, "/open/base")
      try await base.merge(["a": 1, "b/c": 2]).acknowledged()
      let pushed = try base.push(["text": "hello"])
      try await pushed.write.acknowledged()
      #expect(pushed.node.key.utf8.count == 20)
      #expect(try await (base / "count")?.increment(2) == 2)
      #expect(try await (base / "count")?.increment(3) == 5)
      #expect(try await (base / "start")?.increment(1, startValue: 10) == 11)
      let counter = try node(application, "/open/base/transactions")
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<5 {
          group.addTask { _ = try await counter.transaction { .int(Int64(($0.asInt ?? 0) + 1)) } }
        }
        try await group.waitForAll()
      }
      #expect(try await counter.value(as: Int.self) == 5)
      let error = await #expect(throws: DatasyncError.self) { try await counter.transaction { _ in nil } }
      #expect(error?.code == .aborted)
      let all = try await base.value().value
      #expect(all["b"]["c"].asInt == 2)
      #expect(all[pushed.node.key]["text"].asString == "hello")
    }
  }

  @Test func `what is left for the end of the connection happens then, in its order`() async throws {
    try await TreeServing.with { server in
      let (leaving, staying) = (TreeServing.application(server), TreeServing.application(server))
      let online = try node(leaving, "/open/online")
      let events = try node(staying, "/open/online").events(.valueChange)
      var iterator = events.makeAsyncIterator()
      #expect(try await iterator.next()?.value.isNull == true)
      try await online.set("left", at: .nextDisconnection).acknowledged()
      try await (online / "never")?.set(1, at: .nextDisconnection).acknowledged()
      try await (online / "never")?.cancelNextDisconnectionAction().acknowledged()
      leaving.datasyncService.shutDown()
      #expect(try await iterator.next()?.value.asString == "left")
    }
  }

  @Test func `cancelling, a manager's end and a callback's removal each complete once, and nothing follows`()
    async throws
  {
    try await TreeServing.with { server in
      let application = TreeServing.application(server)
      let transcript = Transcript()
      var manager: DatasyncManager? = application.datasyncService.createManager()
      manager?.node(for: "/open")?.subscribe(to: .valueChange) {
        transcript.add($0.line)
      } onCompletion: { completion in
        if case .cancellation = completion { transcript.add("manager") }
      }
      let other = application.datasyncService.createManager()
      let own = other.node(for: "/open")?.subscribe(to: .valueChange) { event in
        transcript.add("own \(event.node?.path ?? "")")
        event.subscription?.cancel()
      } onCompletion: { _ in
        transcript.add("own over")
      }
      _ = await transcript.wait(3)
      manager = nil
      let lines = await transcript.wait(4)
      #expect(Set(lines) == ["value open null", "own /open", "own over", "manager"])
      let callback = DatasyncCallback {
        transcript.add($0.line)
      } onCompletion: { _ in
        transcript.add("callback over")
      }
      let node = try other.nodeThrows(for: "open/x")
      try other.nodeThrows(for: "open/y").subscribe(to: .valueChange, callback)
      node.subscribe(to: .valueChange, callback)
      _ = await transcript.wait(6)
      #expect(node.unsubscribe(callback) == 1)
      _ = await transcript.wait(7)
      try await node.set(1).acknowledged()
      try await other.nodeThrows(for: "open/y").set(2).acknowledged()
      #expect(await transcript.wait(8).suffix(2) == ["callback over", "value y 2 pending"])
      own?.cancel()
    }
  }

  @Test func `acknowledgements alone and an application without a server are refused with a reason`() async throws {
    let node = try node(Martlet.defaultApplication, "contacts")
    let error = #expect(throws: DatasyncError.self) { try node.set(1) }
    #expect(error?.code == .notConfigured)
    try await TreeServing.with { server in
      let node = try self.node(TreeServing.application(server), "/open")
      let error = #expect(throws: DatasyncError.self) { try node.events(.valueAcknowledgement) }
      #expect(error?.code == .invalid)
      let transcript = Transcript()
      node.subscribe(to: .childAcknowledgement) { _ in
      } onCompletion: { completion in
        if case .revocation(let reason) = completion { transcript.add("\(reason.kind)") }
      }
      #expect(await transcript.wait(1) == ["request"])
      #expect(throws: DatasyncError.self) { try node.set(["a.b": 1]) }
      #expect(node / "a$" == nil)
      #expect((node / "geek")?.relativeNode(for: "../x//y/.")?.path == "/open/x/y")
    }
  }

  @Test func `a consumer that is slow gets the newest value, or the events that waited and then a revocation`()
    async throws
  {
    try await TreeServing.with { server in
      let application = TreeServing.application(server) { $0.waitingEvents = 3 }
      let list = try node(application, "/open/list")
      let (values, children) = (try list.events(.valueChange), try list.events(.children))
      try await values.ready()
      try await children.ready()
      for number in 0..<10 { try await (list / "k\(number)")?.set(number).acknowledged() }
      var keys: [String] = []
      let error = await #expect(throws: DatasyncError.self) {
        for try await event in children { keys.append(event.key) }
      }
      #expect(keys == ["k0", "k1", "k2"])
      #expect(error?.code == .revoked)
      #expect(error?.message.contains("waitingEvents") == true)
      var iterator = values.makeAsyncIterator()
      var last: DatasyncEvent?
      for _ in 0..<3 { last = try await iterator.next() }
      #expect(last?.value.keys.count == 10)
    }
  }

  @Test func `a slow consumer of values gets the rejection of a write, whatever newer values replace`() async throws {
    try await TreeServing.with { server in
      let application = TreeServing.application(server) { $0.waitingEvents = 3 }
      let node = try node(application, "/open/number")
      let events = try node.events(.value(change: true, rejection: true))
      try await events.ready()
      let refused = try node.set("text")
      await #expect(throws: DatasyncError.self) { try await refused.acknowledged() }
      for number in 0..<10 { try await node.set(number).acknowledged() }
      var iterator = events.makeAsyncIterator()
      var found: [DatasyncEvent] = []
      while found.last?.value.asInt != 9, let event = try await iterator.next() { found.append(event) }
      #expect(found.count == 3)
      #expect(found.filter { $0.rejection != nil }.count == 1)
      #expect(found.compactMap(\.value.asInt) == [8, 9])
    }
  }

  @Test func `what waits for a callback's queue is delivered before the revocation that came after it`() async throws {
    try await TreeServing.with { server in
      let application = TreeServing.application(server)
      let node = try node(application, "/open/a")
      let transcript = Transcript()
      let queue = DispatchQueue(label: "callbacks")
      queue.suspend()
      let subscription = node.subscribe(to: .valueChange, queue: queue) { event in
        transcript.add("value \(event.value.json)")
      } onCompletion: { completion in
        if case .revocation(let reason) = completion { transcript.add("revoked \(reason.kind)") }
      }
      try await subscription.ready()
      try await server.reload(treeRules: #"{"rules": {}}"#)
      let other = try self.node(application, "/open/b").events(.valueChange)
      // The revocation of the first was on its way before the answer to this one.
      await #expect(throws: DatasyncError.self) { try await other.ready() }
      queue.resume()
      #expect(await transcript.wait(2) == ["value null", "revoked rules"])
    }
  }

  @Test func `states are observed, and a connection can be asked for at once`() async throws {
    try await TreeServing.with { server in
      let application = TreeServing.application(server) { $0.connection.reconnect.firstDelay = .seconds(3_600) }
      let service = application.datasyncService
      #expect(service.state == .idle)
      #expect(service.serverTimeOffset == nil)
      var states = service.states.makeAsyncIterator()
      #expect(await states.next() == .idle)
      let node = try node(application, "/open/x")
      try await node.set(1).acknowledged()
      #expect(await states.next() == .connecting)
      #expect(await states.next() == .connected)
      #expect(service.serverTimeOffset != nil)
      service.isConnectionEnabled = false
      #expect(await states.next() == .disabled)
      let write = try node.set(2)
      #expect(try await service.queuedWrites().map(\.path) == ["/open/x"])
      service.isConnectionEnabled = true
      #expect(await states.next() == .connecting)
      try await write.acknowledged()
      #expect(try await service.queuedWrites().isEmpty)
      service.isConnectionEnabled = false
      let dropped = try node.set(3)
      service.purgeQueue()
      let error = await #expect(throws: DatasyncError.self) { try await dropped.acknowledged() }
      #expect(error?.code == .purged)
      service.shutDown()
    }
  }

  @Test func `events without data, acknowledgements of subscribed kinds, and excluded revocations`()
    async throws
  {
    try await TreeServing.with { server in
      let application = TreeServing.application(server)
      let list = try node(application, "/open/list")
      let signals = try list.events(.value(change: true, withoutData: true))
      let additions = try list.events(
        .child(addition: true, acknowledgement: true), acknowledgements: .ofSubscribedKinds)
      let all = try list.events(.child(addition: true, acknowledgement: true))
      try await signals.ready()
      try await additions.ready()
      try await all.ready()
      try await list.set(["a": 1]).acknowledged()
      try await (list / "a")?.set(2).acknowledged()
      try await (list / "b")?.set(3).acknowledged()
      var (first, second, third) =
        (signals.makeAsyncIterator(), additions.makeAsyncIterator(), all.makeAsyncIterator())
      let signal = try #require(try await first.next())
      #expect(signal.eventType == .value(change: true, withoutData: true))
      #expect(throws: DatasyncError.self) { try signal.data() }
      var lines: [String] = []
      for _ in 0..<4 { lines.append(try await second.next()?.line ?? "") }
      #expect(
        lines == ["added a 1 pending", "acknowledged a 1", "added b 3 after a pending", "acknowledged b 3 after a"])
      lines = []
      for _ in 0..<5 { lines.append(try await third.next()?.line ?? "") }
      #expect(lines.dropFirst(2).first == "acknowledged a 2")
      let transcript = Transcript()
      list.subscribe(to: .valueChange, excludesRevocations: true) { _ in
      } onCompletion: { _ in
        transcript.add("told")
      }
      let told = list.subscribe(to: .valueChange) { _ in
      } onCompletion: { _ in
        transcript.add("revoked")
      }
      try await told.ready()
      try await server.reload(treeRules: #"{"rules": {}}"#)
      #expect(await transcript.wait(1) == ["revoked"])
    }
  }
}
