import MartletGraphQLExecution
import MartletGraphQLLanguage
import MartletJSON
import MartletRuntime

/// Counts from any thread.
final class Counter: Sendable {
  private let count = Lock(0)

  func increment(by amount: Int = 1) { count.withLock { $0 += amount } }
  var value: Int { count.withLock { $0 } }
}

/// Keeps what happened, in order, from any thread.
final class Diary: Sendable {
  private let lines = Lock<[String]>([])

  func write(_ line: String) { lines.withLock { $0.append(line) } }
  var entries: [String] { lines.withLock { $0 } }
}

/// Blocks every caller until `size` have arrived.
actor Gate {
  private let size: Int
  private var waiting: [CheckedContinuation<Void, Never>] = []

  init(size: Int) {
    self.size = size
  }

  func pass() async {
    if waiting.count + 1 == size {
      for continuation in waiting { continuation.resume() }
      waiting.removeAll()
      return
    }
    await withCheckedContinuation { waiting.append($0) }
  }
}

extension ExecutableSchema {
  /// A schema whose errors show their messages.
  static func open(
    _ source: String, limits: ExecutionLimits = ExecutionLimits(), _ configure: (inout Resolvers) -> Void = { _ in }
  ) throws -> ExecutableSchema {
    try ExecutableSchema(source, limits: limits, exposure: .messages, configure: configure)
  }

  /// The response as JSON.
  func answer(
    _ document: String, variables: JSONObject = [:], operationName: String? = nil,
    context: RequestContext = RequestContext()
  ) async throws -> JSONValue {
    try JSONValue(
      parsing: await execute(document, operationName: operationName, variables: variables, context: context).bytes)
  }
}

extension JSONValue {
  /// The messages of a response's errors.
  var messages: [String] { (self["errors"]?.array ?? []).compactMap { $0["message"]?.string } }
  /// The paths of a response's errors.
  var paths: [JSONValue] { (self["errors"]?.array ?? []).compactMap { $0["path"] } }
}
