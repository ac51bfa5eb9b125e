// A screen follows a query by a publisher: without a store, as records enter and leave it, over a clear, to its own cancel.
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
  //= 001-4
}

let screen = PostScreen()
screen.subscribeToPosts()
await journal.wait(1)

Martlet.configure(dataStore: try DataStore(models: [Post.self], storage: .inMemory))
try await Martlet.DataStore.save(Post(id: "1", title: "post one", rating: 11))
screen.subscribeToPosts()
await journal.wait(2)
try await Martlet.DataStore.save(Post(id: "2", title: "post two", rating: 10.5))
await journal.wait(3)
try await Martlet.DataStore.save(Post(id: "1", title: "post one", rating: 10))
await journal.wait(4)
try await Martlet.DataStore.clear()
print("cleared")
try await Martlet.DataStore.start()
await journal.wait(6)
try await Martlet.DataStore.save(Post(id: "3", title: "post three", rating: 12))
await journal.wait(7)
screen.unsubscribeFromPosts()
print("cancelled")
try await Martlet.DataStore.save(Post(id: "4", title: "post four", rating: 13))
print("over")
