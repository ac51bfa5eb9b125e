import MartletFoundationNetwork
import MartletGraphQLClient
import MartletRuntime
import MartletWire
import Testing

/// WebSockets over the system's client, with scripted tasks in virtual time: Foundation's own cannot run here, because
/// this distribution's was built without WebSockets.
@Suite struct SystemSocketTests {
  private struct Lost: Error, CustomStringConvertible { var description: String { "lost" } }

  private let stage = Stage()
  private let recorder = Recorder()

  private func open(_ configure: (inout MessageSocketRequest) -> Void = { _ in }) throws -> ScriptedTasks.Socket? {
    var request = MessageSocketRequest(
      endpoint: try GraphQLEndpoint("wss://server.test/graphql?a=b"), subprotocols: ["graphql-transport-ws"],
      headers: [], openTimeout: .seconds(10), messageBytes: 1_000)
    configure(&request)
    let (sent, stage, recorder) = (request, stage, recorder)
    stage.step {
      recorder.attempt = SystemSockets(stage.tasks).open(sent, on: stage.loop, handler: recorder) { result in
        switch result {
        case .success(let opened):
          recorder.socket = opened.socket
          recorder.note("opened \(opened.subprotocol ?? "-")")
        case .failure(let failure): recorder.note("failed \(failure) \(failure.retryAfter ?? "")")
        }
      }
    }
    return stage.tasks.sockets.last
  }

  private func step(_ task: ScriptedTasks.Socket?, _ body: @escaping (ScriptedTasks.Socket) -> Void) {
    guard let task else { return }
    let bound = LoopBound((task, body), on: stage.loop)
    stage.step { bound.value.1(bound.value.0) }
  }

  @Test func `a socket opens, carries messages one by one, and closes as the server says`() throws {
    let recorder = recorder
    let task = try open()
    #expect(task?.request.endpoint.socketURL == "wss://server.test:443/graphql?a=b")
    step(task) { $0.events.opened(subprotocol: "graphql-transport-ws") }
    step(task) { $0.message(.success(.text("one"))) }
    step(task) { $0.message(.success(.binary)) }
    stage.step { recorder.socket?.send(text: Array("two".utf8)) }
    step(task) { task in
      // A code of an application's, which Foundation's own enumeration does not have on Linux.
      task.events.closed(code: 4400, reason: Array("bad".utf8))
      task.events.completed(nil, status: 101, retryAfter: nil)
    }
    #expect(recorder.events == ["opened graphql-transport-ws", "text one", "binary", "closed 4400 bad"])
    #expect(task?.calls == ["resume", "send two", "cancel"])
  }

  @Test func `a refused handshake names the status and the pause that the server asks for`() throws {
    let task = try open()
    step(task) { $0.events.completed(Lost(), status: 503, retryAfter: "7") }
    #expect(recorder.events == ["failed the server refused (HTTP 503) 7"])
  }

  @Test func `an end before or after the opening is reported once, whatever follows`() throws {
    let before = try open()
    step(before) {
      $0.events.completed(Lost(), status: nil, retryAfter: nil)
      $0.events.opened(subprotocol: nil)
      $0.events.completed(nil, status: nil, retryAfter: nil)
    }
    let after = try open()
    step(after) {
      $0.events.opened(subprotocol: nil)
      $0.events.completed(Lost(), status: 101, retryAfter: nil)
      $0.message(.success(.text("late")))
      $0.events.closed(code: 1000, reason: [])
      $0.events.completed(nil, status: 101, retryAfter: nil)
    }
    #expect(recorder.events == ["failed lost ", "opened -", "closed 1006 lost"])
  }

  @Test func `an opening handshake that takes too long fails, and one that is given up reports nothing`() throws {
    let (stage, recorder) = (stage, recorder)
    let slow = try open()
    stage.pass(.seconds(11))
    #expect(recorder.events == ["failed the opening handshake took too long "])
    #expect(slow?.calls == ["resume", "cancel"])
    let abandoned = try open()
    stage.step { recorder.attempt?.cancel() }
    step(abandoned) { $0.events.opened(subprotocol: nil) }
    stage.pass(.seconds(11))
    #expect(recorder.events.count == 1 && abandoned?.calls == ["resume", "cancel"])
  }

  @Test func `a header that would break the handshake, and an address that cannot be read, fail the attempt`() throws {
    #expect(try open { $0.headers = [("a", "b\r\nc: d")] } == nil)
    stage.tasks.readsAddresses = false
    #expect(try open() == nil)
    #expect(recorder.events.count == 2 && recorder.events.allSatisfy { $0.hasPrefix("failed ") })
    #expect(!recorder.events.contains { $0.contains("c: d") })
  }

  @Test func `the next message is asked for only while there is room`() throws {
    let (stage, recorder) = (stage, recorder)
    let task = try open()
    step(task) { $0.events.opened(subprotocol: nil) }
    #expect(task?.demands == 1)
    stage.step { recorder.socket?.isReading = false }
    step(task) { $0.message(.success(.text("1"))) }
    #expect(task?.demands == 1)
    stage.step { recorder.socket?.isReading = true }
    #expect(task?.demands == 2)
    // Off and on while a message is awaited asks for no second one.
    stage.step {
      recorder.socket?.isReading = false
      recorder.socket?.isReading = true
    }
    #expect(task?.demands == 2)
    step(task) { $0.message(.success(.text("2"))) }
    #expect(recorder.events == ["opened -", "text 1", "text 2"] && task?.demands == 3)
  }

  @Test func `a closing that is not answered ends after a while, and an aborted socket ends at once`() throws {
    let (stage, recorder) = (stage, recorder)
    let task = try open()
    step(task) { $0.events.opened(subprotocol: nil) }
    stage.step { recorder.socket?.close(.goingAway, reason: "bye") }
    step(task) { $0.message(.success(.text("late"))) }
    stage.pass(.seconds(4))
    #expect(recorder.events == ["opened -"])
    stage.pass(.seconds(2))
    #expect(recorder.events == ["opened -", "closed 1001 bye"])
    #expect(task?.calls == ["resume", "close 1001 bye", "cancel"])

    let other = try open()
    step(other) { $0.events.opened(subprotocol: nil) }
    stage.step { recorder.socket?.abort() }
    #expect(recorder.events.suffix(2) == ["opened -", "closed 1006 "] && other?.calls.last == "cancel")
  }

  @Test func `a task that can read no more and does not end is given up`() throws {
    let task = try open()
    step(task) {
      $0.events.opened(subprotocol: nil)
      $0.message(.failure(Lost()))
    }
    stage.pass(.seconds(6))
    #expect(recorder.events == ["opened -", "closed 1006 lost"])
  }

  @Test func `a server that has closed is reported with its code, also by a task that does not end`() throws {
    let stage = stage
    let task = try open()
    step(task) {
      $0.events.opened(subprotocol: nil)
      $0.events.closed(code: 4_499, reason: Array("late".utf8))
    }
    // What came before may still be read.
    step(task) { $0.message(.success(.text("before"))) }
    stage.pass(.seconds(4))
    #expect(recorder.events == ["opened -", "text before"])
    stage.pass(.seconds(2))
    #expect(recorder.events == ["opened -", "text before", "closed 4499 late"] && task?.calls.last == "cancel")
  }

  @Test func `a message that could not be sent ends the socket, as the server closed it or as lost`() throws {
    let (stage, recorder) = (stage, recorder)
    for isClosed in [true, false] {
      let task = try open()
      step(task) {
        $0.events.opened(subprotocol: nil)
        $0.sendFailure = Lost()
      }
      stage.step { recorder.socket?.send(text: Array("x".utf8)) }
      step(task) { if isClosed { $0.events.closed(code: 4_400, reason: []) } }
      stage.pass(.seconds(6))
      #expect(recorder.events.suffix(2) == ["opened -", isClosed ? "closed 4400 " : "closed 1006 lost"])
      #expect(task?.calls.last == "cancel")
    }
  }

  private enum Event: CaseIterable { case opened, message, unreadable, closed, completed }

  /// What a socket reports for events in this order, the first of each.
  private static func expected(_ events: [Event]) -> [String] {
    var said: [String] = []
    var (isOpen, isClosed, isUnreadable) = (false, false, false)
    for event in events {
      switch event {
      case .opened:
        said.append("opened -")
        isOpen = true
      case .message: if isOpen, !isUnreadable { said.append("text m") }
      case .unreadable: if isOpen { isUnreadable = true }
      case .closed: isClosed = true
      case .completed:
        return said + [isOpen ? isClosed ? "closed 4407 away" : "closed 1006 lost" : "failed lost "]
      }
    }
    // The task's end does not come: given up after a while.
    if !isOpen { return said + ["failed the opening handshake took too long "] }
    if isClosed { return said + ["closed 4407 away"] }
    return isUnreadable ? said + ["closed 1006 unreadable"] : said
  }

  private static func orders(_ events: [Event]) -> [[Event]] {
    // With and without those that follow.
    [[]] + events.flatMap { first in orders(events.filter { $0 != first }).map { [first] + $0 } }
  }

  @Test func `every order of a task's events, and every part of it, ends a socket at most once and for one reason`()
    throws
  {
    let orders = Self.orders(Event.allCases)
    #expect(orders.count == 326)
    struct Unreadable: Error, CustomStringConvertible { var description: String { "unreadable" } }
    for order in orders {
      let before = recorder.events.count
      let task = try open()
      for event in order {
        step(task) { task in
          switch event {
          case .opened: task.events.opened(subprotocol: nil)
          case .message: task.message(.success(.text("m")))
          case .unreadable: task.message(.failure(Unreadable()))
          case .closed: task.events.closed(code: 4_407, reason: Array("away".utf8))
          case .completed: task.events.completed(Lost(), status: nil, retryAfter: nil)
          }
        }
      }
      stage.pass(.seconds(20))
      let said = Array(recorder.events.dropFirst(before))
      #expect(said == Self.expected(order), "\(order)")
      // A task that is over is let go of, once; another one is there to be used.
      let isOver = said.last?.hasPrefix("closed") == true || said.last?.hasPrefix("failed") == true
      #expect(task?.calls.count { $0 == "cancel" } == (isOver ? 1 : 0), "\(order)")
    }
  }
}
