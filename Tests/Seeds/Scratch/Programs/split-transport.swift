// Subscriptions go by the socket, queries and mutations by HTTP: with the socket paused a mutation is still answered,
// and its event arrives when the socket is there again.
import Foundation
import SeedSupport

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

//= 003-1

let reviews = try client.subscribe(subscription: ReviewAddedSubscription())
print(reviews.state)
let reading = Task {
  do {
    for try await result in reviews { print("review \(result.data?.reviewAdded?.id ?? "?")") }
    print("ended")
  } catch {
    print("failed: \(error)")
  }
}
try await reviews.ready()
print(reviews.state)
try await Served.addReview("1", "JEDI", stars: 5)
await journal.wait(3)

wsTransport.pause()
for await state in reviews.states {
  if case .paused = state { break }
}
let written = try await client.perform(
  mutation: CreateReviewMutation(input: CreateReviewInput(id: "2", episode: .empire, stars: 4)))
print("written \(written.data?.createReview?.id ?? "?"), \(reviews.state)")
wsTransport.resume()
await journal.wait(5)
let list = try await client.fetch(query: ListReviewsQuery())
print("listed \(list.data?.listReviews?.items.count ?? 0)")
reading.cancel()
await reading.value
try await Served.feeds(0)
print("over: \(reviews.state)")
