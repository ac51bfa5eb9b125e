import Dispatch
import Martlet
import MartletPublishers
import Observation

/// A controller with a list, fed by closures.
class ReviewList {
  private(set) var stars: [Int] = []
  private(set) var loaded = 0
  private(set) var failures = 0
  private var subscription: (any Cancellable)?

  func appear(_ client: GraphQLClient) {
    subscription = client.subscribe(subscription: ReviewAdded()) { [weak self] result in
      guard let self else { return }
      switch result {
      case .success(let answer):
        if let review = answer.data?.reviewAdded { stars.append(review.stars) }
      case .failure:
        failures += 1
      }
    }
    client.fetch(query: Reviews()) { result in
      self.loaded += (try? result.get().data?.listReviews?.items.count) ?? 0
    }
  }

  func add(_ client: GraphQLClient, stars: Int) {
    client.perform(mutation: CreateReview(episode: .jedi, stars: stars)) { result in
      if case .failure = result { self.failures += 1 }
    }
  }

  deinit {
    subscription?.cancel()
  }
}

/// What a view observes.
@Observable class ReviewFeed {
  private(set) var latest: ReviewAdded.Data.Review?
  private(set) var failure: (any Error)?

  func follow(_ client: GraphQLClient) async {
    do {
      for try await result in try client.subscribe(subscription: ReviewAdded(episode: .some(.jedi))) {
        latest = result.data?.reviewAdded
      }
    } catch {
      failure = error
    }
  }
}

/// Todos by the model API: in a loop, and by a publisher.
class TodoScreen {
  private(set) var told: [String] = []
  private var todos: MartletAsyncThrowingSequence<GraphQLSubscriptionEvent<Todo>>?
  private var held = Set<AnyCancellable>()

  func follow() {
    let todos = Martlet.API.subscribe(request: .subscription(of: Todo.self, type: .onCreate))
    self.todos = todos
    Task {
      do {
        for try await event in todos { show(event) }
        told.append("ended")
      } catch {
        told.append("failed")
      }
    }
  }

  func followByPublisher() {
    let todos = Martlet.API.subscribe(request: .subscription(of: Todo.self, type: .onCreate))
    self.todos = todos
    Martlet.Publisher.create(todos)
      .receive(on: DispatchQueue.main)
      .sink { _ in
        self.told.append("ended")
      } receiveValue: { event in
        self.show(event)
      }
      .store(in: &held)
  }

  func disappear() { todos?.cancel() }

  private func show(_ event: GraphQLSubscriptionEvent<Todo>) {
    switch event {
    case .connection(let state): told.append("\(state)")
    case .data(.success(let todo)): told.append(todo.text)
    case .data(.failure(let error)): told.append(error.errorDescription)
    }
  }
}
