import Foundation
import Martlet
import MartletFoundationNetwork
import MartletGraphQLClient
import MartletJSON
import MartletRuntime

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Scripted WebSocket tasks for which a test on their loop can wait.
///
/// `@unchecked Sendable` because everything but `made` is touched only on the loop.
final class WaitingSockets: SocketTasks, @unchecked Sendable {
  /// What sockets were asked for with.
  let made = Lock<[(URLSessionConfiguration, SessionDelegation)]>([])
  private var tasks: [Task] = []
  private var taken = 0
  private let news = News()

  var count: Int { tasks.count }
  var isAllTaken: Bool { taken == tasks.count }

  func make(_ request: MessageSocketRequest, on loop: any Loop, events: any SocketTaskEvents) -> (any SocketTask)? {
    let task = Task(request, events)
    tasks.append(task)
    news.post()
    return task
  }

  /// The next task.
  func next() async -> Task {
    while taken == tasks.count { await news.wait() }
    taken += 1
    return tasks[taken - 1]
  }

  final class Task: SocketTask {
    let request: MessageSocketRequest
    let events: any SocketTaskEvents
    /// What was sent.
    private(set) var texts: [String] = []
    private var read = 0
    private var isCancelled = false
    private(set) var isClosed = false
    private var receiving: ((Result<SocketTaskMessage, any Error>) -> Void)?
    private let news = News()

    init(_ request: MessageSocketRequest, _ events: any SocketTaskEvents) {
      self.request = request
      self.events = events
    }

    func resume() {}
    func send(text: String, _ completion: @escaping ((any Error)?) -> Void) {
      texts.append(text)
      news.post()
      completion(nil)
    }
    func receive(_ completion: @escaping (Result<SocketTaskMessage, any Error>) -> Void) {
      receiving = completion
      news.post()
    }
    func close(code: Int, reason: [UInt8]) {
      isClosed = true
      news.post()
    }
    func cancel() {
      isCancelled = true
      news.post()
    }

    /// The next message that the client sends.
    func sent() async -> JSONValue {
      while read == texts.count { await news.wait() }
      read += 1
      return (try? JSONValue(parsing: Array(texts[read - 1].utf8))) ?? .null
    }

    /// Returns when a message is asked for.
    func asked() async { while receiving == nil { await news.wait() } }

    func closed() async { while !isClosed { await news.wait() } }

    func cancelled() async { while !isCancelled { await news.wait() } }

    /// Answers what was asked for; false when nothing was.
    @discardableResult
    func message(_ text: String) -> Bool { answer(.success(.text(text))) }

    /// Nothing more can be read.
    func fail() { _ = answer(.failure(URLError(.networkConnectionLost))) }

    private func answer(_ result: Result<SocketTaskMessage, any Error>) -> Bool {
      guard let told = receiving else { return false }
      receiving = nil
      told(result)
      return true
    }
  }

  /// Wakes the one task that waits on the loop.
  private final class News {
    private var waiter: CheckedContinuation<Void, Never>?

    func post() {
      waiter?.resume()
      waiter = nil
    }

    func wait() async { await withCheckedContinuation { waiter = $0 } }
  }
}
