import Foundation
import Martlet

/// What a screen of an app shows: the newest text, and whether the connection is there. Compiles on every platform;
/// a view holds it in its state.
@MainActor final class NewestTodo {
  private(set) var text = ""
  private(set) var isLive = false
  private var handle: OperationHandle?

  struct Added: GraphQLSubscription, Codable {
    static let operationName = "Added"
    static let operationDocument = "subscription Added { onCreateTodo { text } }"

    struct Data: Codable, Sendable {
      struct Todo: Codable, Sendable {
        let text: String
      }
      let onCreateTodo: Todo
    }
  }

  /// The closure is called on the main actor; dropping this object ends the subscription.
  func follow(_ client: GraphQLClient) {
    handle = client.subscribe(subscription: Added()) { [weak self] result in
      guard let self else { return }
      switch result {
      case .success(let response):
        isLive = response.gap == nil
        if let todo = response.data?.onCreateTodo { text = todo.text }
      case .failure: isLive = false
      }
    }
  }
}
