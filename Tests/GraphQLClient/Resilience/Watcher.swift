import MartletGraphQLClient
import MartletRuntime
import MartletSimulation

/// Consumes a subscription in a task of its own and writes down what the loop sees. Touched inside the pump, and
/// between two runs.
final class Watcher: @unchecked Sendable {
  private(set) var seen: [String] = []
  /// What the loop is doing: "waits", "ends", or "throws" and the error's code.
  private(set) var end = "waits"
  private var task: SpawnedTask?

  init(_ stream: SubscriptionStream<SubscriptionEvent>, _ executor: SimulatedExecutor) {
    task = executor.spawner.spawn { [self] in
      do {
        for try await event in stream { seen.append(event.gap.map { "gap(\($0.reason.rawValue))" } ?? "event") }
        end = "ends"
      } catch let error as GraphQLClientError {
        end = "throws \(error.code)"
      } catch {
        end = "throws \(error)"
      }
    }
  }

  func cancelTask() { task?.cancel() }

  var description: String { (seen + [end]).joined(separator: " ") }
}

extension SubscriptionState {
  /// The state without the error's words.
  var short: String {
    if case .finished(.error(let error)) = self {
      return "failed(\((error as? GraphQLClientError)?.code.description ?? "?"))"
    }
    return description
  }

  var error: GraphQLClientError? {
    if case .finished(.error(let error)) = self { return error as? GraphQLClientError }
    return nil
  }
}
