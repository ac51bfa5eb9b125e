// A screen follows the changes of posts by a publisher: without a store, over a stop, to its own cancel.
import Martlet
import MartletDataStore
import MartletPublishers
import SeedSupport

struct Post: Model {
  var id: String
  var title: String
  var rating: Double
  enum CodingKeys: String, ModelKey { case id, title, rating }
}

final class PostScreen {
  //= 001-2
}

let screen = PostScreen()
screen.subscribeToPosts()
await journal.wait(1)

Martlet.configure(dataStore: try DataStore(models: [Post.self], storage: .inMemory))
screen.subscribeToPosts()
try await Martlet.DataStore.save(Post(id: "1", title: "post one", rating: 11))
await journal.wait(2)
try await Martlet.DataStore.save(Post(id: "1", title: "post one", rating: 7.5))
await journal.wait(3)
try await Martlet.DataStore.stop()
print("stopped")
// The operation lets the streams continue.
try await Martlet.DataStore.delete(Post.self, withId: "1")
await journal.wait(5)
screen.unsubscribeFromPosts()
print("cancelled")
try await Martlet.DataStore.save(Post(id: "2", title: "late", rating: 1))
print("over")
