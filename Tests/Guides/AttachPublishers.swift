import Martlet
import MartletPublishers

/// One subscription with several subscribers.
final class TodoTicker {
  struct Todo: Model {
    var id: String
    var text: String

    enum CodingKeys: String, ModelKey { case id, text }
  }

  private var attached: Set<AnyCancellable> = []

  func attach(_ show: @escaping @Sendable (String) -> Void) {
    let created = Martlet.API.subscribe(request: .subscription(of: Todo.self, type: .onCreate))
    let publisher = Martlet.Publisher.create(created)
    publisher
      .compactMap { event in if case .data(.success(let todo)) = event { todo.text } else { nil } }
      .sink(receiveCompletion: { _ in show("ended") }, receiveValue: { text in show(text) })
      .store(in: &attached)
    publisher
      .sink(receiveCompletion: { _ in }, receiveValue: { event in print(event) })
      .store(in: &attached)
  }
}
