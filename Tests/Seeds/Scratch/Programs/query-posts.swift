// A screen follows a query in a loop: what is on this device while the server is not there, then what the sync has brought,
// then each change, to its own cancel.
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
  //= 001-3
}

try await Served.addPost("2", "post two", 12)
try await Served.addPost("3", "post three", 9.5)
try await Served.addPost("4", "another", 20)
var settings = ConnectionConfiguration()
settings.credentials = { _ in
  await journal.wait(1)
  return Credentials()
}
let client = try GraphQLClient(url: URL(string: Served.socket).unsafelyUnwrapped, configuration: settings)
var configuration = DataStoreConfiguration()
// What the sync changes comes in one snapshot however slow the machine is.
configuration.snapshotInterval = .seconds(600)
Martlet.configure(
  dataStore: try DataStore(
    models: [Post.self], storage: .inMemory,
    sync: DataStoreSync(client.networkTransport, configuration: configuration)))
let screen = PostScreen()
let following = Task { await screen.subscribeToPosts() }
await journal.wait(2)
try await Served.addPost("5", "post five", 10.5)
await journal.wait(3)
screen.unsubscribeFromPosts()
await following.value
try await Martlet.DataStore.save(Post(id: "6", title: "post six", rating: 99))
print("over")
