import Foundation
import Martlet
import MartletRuntime
import MartletSimulation
import MartletTesting
import MartletWire
import Testing

/// The rest of what a client promises when the network misbehaves; docs/TESTING.md has the whole list.
@Suite struct ContractTests {
  // MARK: Losses

  @Test(arguments: [1000, 1001, 1005, 1006, 1012] as [UInt16])
  func `without reconnecting a closed connection is an error, never a completion`(code: UInt16) throws {
    for isAcknowledged in [true, false] {
      let stage = try Stage { $0.reconnect = .never }
      if !isAcknowledged { stage.server.acknowledgement = nil }
      let stream = stage.subscribe()
      let watcher = Watcher(stream, stage.executor)
      stage.run()
      stage.onLoop { $0.socket?.end(WebSocketCloseCode(rawValue: code), "bye") }
      #expect(stream.state.short == "failed(connectFailed)" && stream.state.error?.closeCode == Int(code))
      #expect(watcher.description == "throws connectFailed")
      stage.run(.seconds(600))
      #expect(stage.server.attempts.count == 1)
    }
  }

  @Test func `an outage of an hour is survived, and the state says so throughout`() throws {
    let stage = try Stage { $0.reconnect.attempts = nil }
    let stream = stage.subscribe()
    stage.run()
    stage.server.door = .silent
    stage.onLoop { $0.socket?.cut() }
    for _ in 1...60 {
      stage.run(.seconds(60))
      #expect(stream.state.short == "reconnecting")
    }
    stage.server.door = .open
    stage.run(.seconds(60))
    #expect(stream.state.short == "active" && stream.core.waiting == 1)
    // At most one attempt in half a minute once the pauses have grown.
    #expect(stage.server.attempts.count < 3_600 / 15)
  }

  @Test func `new credentials whose socket fails before the acknowledgement are a drop like any other`() throws {
    let stage = try Stage()
    let stream = stage.subscribe()
    stage.run()
    stage.server.acknowledgement = nil
    stage.connection.update(reconnecting: true) { $0.connectingPayload = ["authToken": "new"] }
    stage.run()
    #expect(stage.server.sockets.count == 2 && stream.state.short == "reconnecting")
    stage.onLoop { $0.socket?.cut() }
    #expect(stream.state.short == "reconnecting")
    stage.server.acknowledgement = [:]
    stage.run(.seconds(2))
    #expect(stage.server.sockets.count == 3 && stream.state.short == "active")
    #expect(stage.server.socket?.received.first?.contains("new") == true)
  }

  @Test func `an operation started during a pause before the next attempt does not cut the pause short`() throws {
    let stage = try Stage { $0.reconnect.jitter = 0 }
    let first = stage.subscribe()
    stage.run()
    stage.server.door = .refuses()
    stage.onLoop { $0.socket?.cut() }
    stage.run(.milliseconds(600))
    let before = stage.server.attempts.count
    let second = stage.subscribe()
    stage.run(.milliseconds(100))
    #expect(stage.server.attempts.count == before)
    stage.server.door = .open
    stage.run(.seconds(2))
    #expect(first.state.short == "active" && second.state.short == "active")
    #expect(first.core.waiting == 1 && second.core.waiting == 0)
  }

  @Test func `the last subscription cancelled during a pause ends the dialling`() throws {
    let stage = try Stage()
    let stream = stage.subscribe()
    stage.run()
    stage.server.door = .refuses()
    stage.onLoop { $0.socket?.cut() }
    stage.run(.seconds(2))
    let attempts = stage.server.attempts.count
    stream.cancel()
    stage.run(.seconds(600))
    #expect(stage.server.attempts.count == attempts)
  }

  @Test func `the pauses are spread by chance, within the policy, and differ from client to client`() throws {
    var all: Set<[Duration]> = []
    for seed in [1, 2, 3] as [UInt64] {
      let stage = try Stage(seed: seed) { $0.reconnect.attempts = 6 }
      stage.server.door = .refuses()
      let stream = stage.subscribe()
      stage.run(.seconds(120))
      let times = stage.server.attempts.map(\.at)
      #expect(times.count == 7 && stream.state.short == "failed(connectFailed)")
      for (failures, pair) in zip(times, times.dropFirst()).enumerated() {
        let pause = pair.1 - pair.0
        let full = Duration.milliseconds(500 << failures)
        #expect(pause <= full && pause >= full / 2)
      }
      all.insert(times)
    }
    #expect(all.count == 3)
  }

  @Test func `a program that knows places of its own says them at each new start`() throws {
    let time = VirtualTime()
    let server = ScriptedServer(time)
    let url = try #require(URL(string: "ws://example.test/graphql"))
    let client = try GraphQLClient(url: url, environment: server.environment)
    let asked = Recorder<Int>()
    let sent = try time.run {
      let stream = client.subscribe(
        "subscription From($after: Int!) { tick(after: $after) }", variables: ["after": 0],
        resubscribing: {
          asked.add(1)
          return ["after": .int(Int64(asked.all.count * 10))]
        })
      var sent: [JSONValue?] = []
      server.door = .refuses()
      await time.sleep(for: .milliseconds(1))
      server.door = .open
      for number in 1...3 {
        let socket = try await server.accept()
        let start = try await socket.expect("subscribe")
        sent.append(start["payload"]?["variables"]?["after"])
        socket.next(start["id"]?.string ?? "", data: ["tick": .int(Int64(number))])
        if number < 3 { socket.cut() } else { socket.complete("1") }
      }
      var ticks: [JSONValue?] = []
      for try await result in stream { ticks.append(result.gap == nil ? result.data?["tick"] : "gap") }
      return sent + ticks
    }
    // Not asked before it was ever sent. The gap is reported all the same: what the server replays is not guaranteed.
    #expect(sent == [0, 10, 20, 1, "gap", 2, "gap", 3])
  }

  // MARK: What servers send

  @Test func `a numeric id, an error that is not a list and an acknowledgement's payload are taken as they are`() throws
  {
    let stage = try Stage()
    stage.server.acknowledgement = ["region": "vienna"]
    let told = Recorder<ConnectionEvent>()
    let events = stage.connection.connectionEvents
    stage.executor.spawner.spawn { for await event in events { told.add(event) } }
    let streams = (1...2).map { _ in stage.subscribe() }
    stage.run()
    #expect(told.all == [.connected(payload: ["region": "vienna"])])
    stage.onLoop { $0.socket?.say(#"{"id":1,"type":"next","payload":{"data":{"tick":1}}}"#) }
    #expect(streams.map(\.core.waiting) == [1, 0])
    stage.onLoop { $0.socket?.say(#"{"id":"1","type":"error","payload":{"message":"odd","more":[1]}}"#) }
    #expect(streams[0].state.error?.errors == [["message": "odd", "more": [1]]])
    stage.onLoop { $0.socket?.say(#"{"id":"2","type":"error","payload":"plain"}"#) }
    #expect(streams[1].state.short == "failed(operationFailed)")
    stage.connection.shutDown()
  }

  @Test func `messages for unknown ids change nothing, and a result with errors only is not the end`() throws {
    let stage = try Stage()
    let stream = stage.subscribe()
    let watcher = Watcher(stream, stage.executor)
    stage.run()
    for text in [
      #"{"id":"77","type":"next","payload":{}}"#, #"{"id":"77","type":"complete"}"#,
      #"{"id":"77","type":"error","payload":[]}"#, #"{"id":"1","type":"next","payload":{"errors":[{"message":"no"}]}}"#,
    ] { stage.onLoop { $0.socket?.say(text) } }
    #expect(stream.state.short == "active" && watcher.description == "event waits")
    watcher.cancelTask()
  }

  // MARK: The consumer

  @Test func `a second iterator is refused while the first lives, and the first loses nothing`() throws {
    let stage = try Stage()
    let stream = stage.subscribe()
    stage.run()
    let seen = try stage.executor.run {
      stage.loop.schedule(later: .milliseconds(1)) {
        for number in 1...3 { stage.server.socket?.next("1", data: .int(Int64(number))) }
      }
      var seen: [String] = []
      var first = stream.makeAsyncIterator()
      if try await first.next() != nil { seen.append("first") }
      var second = stream.makeAsyncIterator()
      do {
        _ = try await second.next()
      } catch let error as GraphQLClientError { seen.append("\(error.code)") }
      if try await first.next() != nil { seen.append("first") }
      return seen
    }
    #expect(seen == ["first", "streamInUse", "first"] && stream.state.short == "active")
    // The first is gone: the next one continues where it stopped.
    let last = try stage.executor.run {
      for try await event in stream { return String(decoding: event.payload, as: UTF8.self) }
      return ""
    }
    #expect(last == #"{"data":3}"#)
  }

  @Test func `two tasks that iterate at the same time are refused, not trapped`() throws {
    let stage = try Stage()
    let stream = stage.subscribe()
    stage.run()
    let told = Recorder<String>()
    for _ in 1...2 {
      stage.executor.spawner.spawn {
        var own = stream.makeAsyncIterator()
        do {
          told.add(try await own.next() == nil ? "end" : "event")
        } catch { told.add((error as? GraphQLClientError)?.code.description ?? "\(error)") }
      }
    }
    stage.run()
    #expect(told.all == ["streamInUse"])
    stage.onLoop { $0.socket?.next("1", data: 1) }
    #expect(told.all == ["streamInUse", "event"])
  }

  @Test func `the configuration bounds the buffers of streams that name no bound`() throws {
    let time = VirtualTime()
    let server = ScriptedServer(time)
    var configuration = ConnectionConfiguration()
    configuration.buffer = BufferPolicy(.dropNewest, events: 2)
    let url = try #require(URL(string: "ws://example.test/graphql"))
    let client = try GraphQLClient(url: url, configuration: configuration, environment: server.environment)
    let texts = try time.run {
      let streams = [
        client.subscribe("subscription { a }"), client.subscribe("subscription { b }", buffer: BufferPolicy()),
      ]
      let socket = try await server.accept()
      for stream in streams {
        let id = try await socket.expect("subscribe")["id"]?.string ?? ""
        for number in 1...5 { socket.next(id, data: .int(Int64(number))) }
        socket.complete(id)
        _ = stream.state
      }
      var texts: [String] = []
      for stream in streams {
        var text = ""
        for try await result in stream {
          text += result.gap.map { "(gap \($0.dropped ?? 0))" } ?? "\(result.data ?? .null)"
        }
        texts.append(text)
      }
      return texts
    }
    #expect(texts == ["12(gap 3)", "12345"])
  }
}
