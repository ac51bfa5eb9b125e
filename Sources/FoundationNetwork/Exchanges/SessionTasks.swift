internal import Dispatch
package import MartletRuntime

#if canImport(FoundationNetworking)
  internal import Foundation
  package import FoundationNetworking
#else
  package import Foundation
#endif

/// Tasks of `URLSession`. Requests and streams have a session each, so that streams, which last, cannot take the
/// connections that requests wait for.
package final class SessionTasks: ExchangeTasks, Sendable {
  private let loop: DispatchLoop
  private let requests: URLSession
  private let streams: URLSession
  /// Suspending may block for as long as a fast server sends, so that it is done away from the loop.
  private let pausing = DispatchQueue(label: "martlet.pausing")
  private let relay: ExchangeRelay

  /// - Parameters:
  ///   - loop: where everything is reported.
  ///   - configuration: proxies, cookies, caches and TLS; its time-outs are not used.
  ///   - delegation: what is trusted, and where challenges and metrics go.
  package init(
    on loop: DispatchLoop, configuration: URLSessionConfiguration, limits: ExchangeLimits = ExchangeLimits(),
    delegation: SessionDelegation = SessionDelegation()
  ) {
    self.loop = loop
    relay = ExchangeRelay(loop, delegation)
    requests = SessionRelay.session(configuration, connections: limits.connections, relay)
    streams = SessionRelay.session(configuration, connections: limits.streams, relay)
  }

  deinit {
    requests.invalidateAndCancel()
    streams.invalidateAndCancel()
  }

  package func make(
    _ request: HTTPExchangeRequest, isStream: Bool, events: any ExchangeEvents
  ) -> any ExchangeTask {
    precondition(loop.isCurrent, "a task is made on its loop")
    let session = isStream ? streams : requests
    guard let url = URL(string: request.url) else { return UnusableTask(loop, events) }
    var call = URLRequest(url: url)
    call.httpMethod = request.method
    call.add(request.headers)
    let task: URLSessionTask
    if let file = request.bodyFile {
      task = session.uploadTask(with: call, fromFile: URL(fileURLWithPath: file))
    } else {
      if let body = request.body { call.httpBody = Data(body) }
      task = session.dataTask(with: call)
    }
    relay.running[ObjectIdentifier(task)] = events
    return SessionTask(task)
  }

  /// Foundation on Linux delivers pieces of the body twice when a task is suspended while they come. There a task
  /// continues to read, and its exchange holds what comes, up to its limit.
  package func set(_ task: any ExchangeTask, paused: Bool) {
    #if !canImport(FoundationNetworking)
      guard let task = (task as? SessionTask)?.task else { return }
      pausing.async {
        if paused { task.suspend() } else { task.resume() }
      }
    #endif
  }
}

extension URLRequest {
  /// Adds fields. Those of one name become one field with a list, except credentials, of which the last ones are sent.
  mutating func add(_ fields: [(name: String, value: String)]) {
    for (name, value) in fields {
      if name.lowercased() == "authorization" {
        setValue(value, forHTTPHeaderField: name)
      } else {
        addValue(value, forHTTPHeaderField: name)
      }
    }
  }
}

/// A task of a session's.
private final class SessionTask: ExchangeTask {
  let task: URLSessionTask
  init(_ task: URLSessionTask) { self.task = task }
  func resume() { task.resume() }
  func suspend() { task.suspend() }
  func cancel() { task.cancel() }
}

/// Stands for a task that cannot be made, because Foundation reads no URL in its text.
private final class UnusableTask: ExchangeTask {
  private let loop: DispatchLoop
  private let events: any ExchangeEvents

  init(_ loop: DispatchLoop, _ events: any ExchangeEvents) {
    self.loop = loop
    self.events = events
  }

  func resume() {
    let events = events
    loop.schedule(at: loop.now) { events.completed(HTTPExchangeError(.invalidRequest, "the URL cannot be read")) }
  }
  func suspend() {}
  func cancel() {}
}

/// Reports the tasks' events to their exchanges.
private final class ExchangeRelay: SessionRelay, URLSessionDataDelegate, @unchecked Sendable {
  /// The tasks that are under way.
  var running: [ObjectIdentifier: any ExchangeEvents] = [:]

  private func tell(_ task: URLSessionTask, _ body: (any ExchangeEvents) -> Void) {
    loop.turn {
      if let events = running[ObjectIdentifier(task)] { body(events) }
    }
  }

  override func sentBody(_ task: URLSessionTask) {
    running[ObjectIdentifier(task)]?.sentBody()
  }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    completionHandler(.allow)
    guard let response = response as? HTTPURLResponse else { return }
    tell(dataTask) { $0.received(head: HTTPExchangeHead(response)) }
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    tell(dataTask) { $0.received(body: Array(data)) }
  }

  override func ended(_ task: URLSessionTask, _ error: (any Error)?, refusal: String?) {
    guard let events = running.removeValue(forKey: ObjectIdentifier(task)) else { return }
    events.completed(refusal.map { HTTPExchangeError(.tls, $0) } ?? error.map { HTTPExchangeError(system: $0) })
  }
}

extension HTTPExchangeHead {
  init(_ response: HTTPURLResponse) {
    let fields = response.allHeaderFields.map { (name: "\($0.key)", value: "\($0.value)") }
    // The system keeps no order; equal ones joined, each is there once.
    self.init(status: response.statusCode, headers: fields.sorted { $0.name < $1.name }, majorVersion: 1)
  }
}
