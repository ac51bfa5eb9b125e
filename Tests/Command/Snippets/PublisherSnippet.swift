import Martlet
import MartletPublishers

/// The guide's two subscribers of one publisher.
enum PublisherSnippet {
  static func attach() -> [AnyCancellable] {
    let sequence = Martlet.API.subscribe(request: .subscription(of: Todo.self, type: .onCreate))
    let publisher = Martlet.Publisher.create(sequence)
    let all = publisher.sink(
      receiveCompletion: { completion in print(completion) }, receiveValue: { event in print(event) })
    let data = publisher.filter { event in if case .data = event { true } else { false } }
    let some = data.sink(
      receiveCompletion: { completion in print(completion) }, receiveValue: { event in print(event) })
    return [all, some]
  }
}
