import MartletFoundationNetwork
import MartletGraphQLClient
import MartletRuntime
import MartletSimulation
import MartletVocabulary
import MartletWire

/// Stands for `URLSession`: a test says what its tasks report, in any order.
///
/// `@unchecked Sendable` because it is touched only inside the executor's runs, or between them.
final class ScriptedTasks: ExchangeTasks, SocketTasks, @unchecked Sendable {
  /// A data task.
  final class Exchange: ExchangeTask {
    let request: HTTPExchangeRequest
    let isStream: Bool
    let events: any ExchangeEvents
    fileprivate(set) var calls: [String] = []

    init(_ request: HTTPExchangeRequest, _ isStream: Bool, _ events: any ExchangeEvents) {
      self.request = request
      self.isStream = isStream
      self.events = events
    }

    func resume() { calls.append("resume") }
    func suspend() { calls.append("suspend") }
    func cancel() { calls.append("cancel") }
    func head(_ status: Int = 200) {
      events.received(head: HTTPExchangeHead(status: status, headers: [], majorVersion: 1))
    }
    func body(_ text: String) { events.received(body: Array(text.utf8)) }
    func end(_ error: HTTPExchangeError? = nil) { events.completed(error) }
  }

  /// A WebSocket task.
  final class Socket: SocketTask {
    let request: MessageSocketRequest
    let events: any SocketTaskEvents
    private(set) var calls: [String] = []
    private var receiving: ((Result<SocketTaskMessage, any Error>) -> Void)?
    /// Calls of `receive` so far.
    private(set) var demands = 0
    /// What goes wrong with messages that are sent from now on.
    var sendFailure: (any Error)?

    init(_ request: MessageSocketRequest, _ events: any SocketTaskEvents) {
      self.request = request
      self.events = events
    }

    func resume() { calls.append("resume") }
    func send(text: String, _ completion: @escaping ((any Error)?) -> Void) {
      calls.append("send \(text)")
      completion(sendFailure)
    }
    func receive(_ completion: @escaping (Result<SocketTaskMessage, any Error>) -> Void) {
      precondition(receiving == nil, "one message is asked for at a time")
      demands += 1
      receiving = completion
    }
    func close(code: Int, reason: [UInt8]) { calls.append("close \(code) \(String(decoding: reason, as: UTF8.self))") }
    func cancel() { calls.append("cancel") }

    /// Answers what was asked for; false when nothing was.
    @discardableResult
    func message(_ result: Result<SocketTaskMessage, any Error>) -> Bool {
      guard let told = receiving else { return false }
      receiving = nil
      told(result)
      return true
    }
  }

  private(set) var exchanges: [Exchange] = []
  private(set) var sockets: [Socket] = []
  /// Whether addresses can be read.
  var readsAddresses = true

  func make(_ request: HTTPExchangeRequest, isStream: Bool, events: any ExchangeEvents) -> any ExchangeTask {
    let task = Exchange(request, isStream, events)
    exchanges.append(task)
    return task
  }

  func set(_ task: any ExchangeTask, paused: Bool) {
    if paused { task.suspend() } else { task.resume() }
  }

  func make(_ request: MessageSocketRequest, on loop: any Loop, events: any SocketTaskEvents) -> (any SocketTask)? {
    guard readsAddresses else { return nil }
    let task = Socket(request, events)
    sockets.append(task)
    return task
  }
}

/// A simulated loop on which a test runs its steps one by one.
struct Stage {
  let executor = SimulatedExecutor(seed: 1)
  let loop: SimulatedLoop
  let tasks = ScriptedTasks()

  init() { loop = executor.makeLoop("client") }

  /// Runs a step on the loop, and what follows from it without time passing.
  func step(_ body: @escaping @Sendable () -> Void) {
    loop.execute(body)
    executor.run(for: .zero)
  }

  func pass(_ time: Duration) { executor.run(for: time) }
}

/// Writes down what an exchange or a socket reports.
///
/// `@unchecked Sendable` because it is touched only inside the executor's runs, or between them.
final class Recorder: HTTPExchangeHandler, MessageSocketHandler, @unchecked Sendable {
  private(set) var events: [String] = []
  var exchange: HTTPExchange?
  var socket: (any MessageSocket)?
  var attempt: ConnectAttempt?

  func note(_ event: String) { events.append(event) }

  func sentBody() { note("sent") }
  func received(head: HTTPExchangeHead) { note("head \(head.status)") }
  func received(body: borrowing RawSpan) {
    note("body " + body.withUnsafeBytes { String(decoding: $0, as: UTF8.self) })
  }
  func ended(_ error: HTTPExchangeError?) { note("end" + (error.map { " \($0.code)" } ?? "")) }

  func received(text: [UInt8]) { note("text " + String(decoding: text, as: UTF8.self)) }
  func receivedBinary() { note("binary") }
  func closed(code: WebSocketCloseCode, reason: String) { note("closed \(code.rawValue) \(reason)") }
}
