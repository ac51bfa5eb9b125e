import Foundation
import Martlet

/// Requests about models by type.
enum ModelRequests {
  struct Book: Model {
    var id: String
    var title: String
    var rating: Double?

    enum CodingKeys: String, ModelKey { case id, title, rating }
  }

  static func best(_ server: URL) async throws -> [String] {
    try Martlet.configure(url: server)
    let book = Book.keys
    _ = try await Martlet.API.mutate(request: .create(Book(id: "1", title: "The Martlet", rating: 4.5))).get()
    let page = try await Martlet.API.query(request: .list(Book.self, where: book.rating > 4.0, limit: 20)).get()
    return page.map(\.title)
  }
}
