// A screen follows the changes of posts in a loop: those of this device and those of the server, over a stop of the sync,
// to its own cancel.
import Foundation
import Martlet
import MartletDataStore
import SeedSupport

struct Post: Model {
  var id: String
  var title: String
  var rating: Double
  enum CodingKeys: String, ModelKey { case id, title, rating }
}

@MainActor final class PostScreen {
  //= 001-1
}

let screen = PostScreen()
await screen.subscribeToPosts()

let client = try GraphQLClient(url: URL(string: Served.socket).unsafelyUnwrapped)
Martlet.configure(
  dataStore: try DataStore(models: [Post.self], storage: .inMemory, sync: DataStoreSync(client.networkTransport)))
try await Martlet.DataStore.start()
for await status in Martlet.DataStore.syncStatuses where status.isSettled { break }
let earlier = screen.postsSubscription
let following = Task { await screen.subscribeToPosts() }
while screen.postsSubscription === earlier { await Task.yield() }
try await screen.postsSubscription?.ready()
try await Martlet.DataStore.save(Post(id: "1", title: "post one", rating: 11))
await journal.wait(for: "(mutationResponse)")
try await Served.addPost("2", "post two", 12)
await journal.wait(for: "Post 2")
try await Martlet.DataStore.stop()
try await Served.feeds(0)
print("stopped")
try await Served.addPost("3", "post three", 13)
print("started")
try await Martlet.DataStore.start()
await journal.wait(for: "Post 3")
try await Martlet.DataStore.delete(Post.self, withId: "1")
await journal.wait(for: "delete Post 1")
screen.unsubscribeFromPosts()
await following.value
try await Martlet.DataStore.save(Post(id: "4", title: "late", rating: 1))
print("over")
