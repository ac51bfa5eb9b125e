// The program's one client: queries and mutations by HTTP, subscriptions by the socket, one store.
import SeedSupport

//= 004-1

let client = Apollo.shared.client
let reviews = try client.subscribe(subscription: ReviewAddedSubscription(episode: .jedi))
try await reviews.ready()
print(reviews.state)
for (id, episode) in [("1", Episode.empire), ("2", .jedi)] {
  let written = try await client.perform(
    mutation: CreateReviewMutation(input: CreateReviewInput(id: .some(id), episode: episode, stars: 5)))
  print("written \(written.data?.createReview?.id ?? "?")")
}
for try await result in reviews {
  print("review \(result.data?.reviewAdded?.id ?? "?")")
  break
}
let list = try await client.fetch(query: ListReviewsQuery())
print("listed \(list.data?.listReviews?.items.count ?? 0)")
let again = try await client.fetch(query: ListReviewsQuery(), cachePolicy: .cacheOnly)
print("from the store \(again.data?.listReviews?.items.count ?? 0)")
reviews.cancel()
try await Served.feeds(0)
print("the same client: \(client === Apollo.shared.client)")
