// A client whose socket shows a token when it connects, to a server that asks for one. Its HTTP requests show none.
import SeedSupport

//= 004-3

let client = Apollo.shared.client
let reviews = try client.subscribe(subscription: ReviewAddedSubscription())
try await reviews.ready()
print(reviews.state)
try await Served.addReview("1", "JEDI", stars: 5)
for try await result in reviews {
  print("review \(result.data?.reviewAdded?.id ?? "?")")
  break
}
do {
  let list = try await client.fetch(query: ListReviewsQuery())
  print("listed \(list.data?.listReviews?.items.count ?? 0)")
} catch let error as GraphQLClientError {
  print("by HTTP: \(error.code)")
}
let socket = WebSocket(url: try Served.url, webSocketProtocol: .graphqlWsProtocol)
let stranger = GraphQLClient(networkTransport: WebSocketTransport(websocket: socket))
do {
  for try await _ in try stranger.subscribe(subscription: ReviewAddedSubscription()) {}
  print("ended")
} catch let error as GraphQLClientError {
  print("without the token: \(error.code)")
}
