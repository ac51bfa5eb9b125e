import CMartletSQLite
import Foundation
import MartletDataStore

/// A record of the benchmark of decoding.
struct BenchDocument: StoredModel {
  var id: String
  var title: String
  var number: Int
  var rating: Double
  var isOpen: Bool
  var text: String
  var note: String?
  enum CodingKeys: String, ModelKey { case id, title, number, rating, isOpen, text, note }
}

/// As `martlet generate` writes it.
extension BenchDocument: RowDecodable {
  init(from row: inout ModelRow) throws {
    let id: String = try row.next()
    let title: String = try row.next()
    let number: Int = try row.next()
    let rating: Double = try row.next()
    let isOpen: Bool = try row.next()
    let text: String = try row.next()
    let note: String? = try row.nextIfPresent()
    self.init(id: id, title: title, number: number, rating: rating, isOpen: isOpen, text: text, note: note)
  }
}

/// The same with one relation of each direction: its author's key is a column, and its comments are found by its own.
struct BenchPost: StoredModel {
  var id: String
  var title: String
  var number: Int
  var rating: Double
  var isOpen: Bool
  var text: String
  var note: String?
  var author: LazyReference<BenchAuthor>
  var comments: List<BenchComment> = []
  enum CodingKeys: String, ModelKey { case id, title, number, rating, isOpen, text, note, author, comments }
  static var relations: [CodingKeys: ModelAssociation] {
    [
      .author: .belongsTo(BenchAuthor.self, fields: "authorID"),
      .comments: .hasMany(BenchComment.self, fields: "postID"),
    ]
  }
}

struct BenchAuthor: StoredModel {
  var id: String
  var name: String
  enum CodingKeys: String, ModelKey { case id, name }
}

struct BenchComment: StoredModel {
  var id: String
  var postID: String
  enum CodingKeys: String, ModelKey { case id, postID }
}

/// As `martlet generate` writes it.
extension BenchPost: RowDecodable {
  init(from row: inout ModelRow) throws {
    let id: String = try row.next()
    let title: String = try row.next()
    let number: Int = try row.next()
    let rating: Double = try row.next()
    let isOpen: Bool = try row.next()
    let text: String = try row.next()
    let note: String? = try row.nextIfPresent()
    let author: LazyReference<BenchAuthor> = try row.nextReference()
    let comments: List<BenchComment> = try row.nextList()
    self.init(
      id: id, title: title, number: number, rating: rating, isOpen: isOpen, text: text, note: note, author: author,
      comments: comments)
  }
}

/// A query that makes a struct of each row, against a loop over SQLite's C interface that runs the same statement on
/// the same file and keeps the columns in C structs of its own, texts copied: of a model without relations, and of one
/// with one of each direction.
enum DecodeWorkload {
  private struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  private static let rounds = 9

  static func run(file: String, rows: Int) async throws {
    let store = try DataStore(
      models: [BenchDocument.self, BenchPost.self, BenchAuthor.self, BenchComment.self], storage: .file(file))
    try await store.transaction { transaction in
      for number in 0..<100 { try transaction.save(BenchAuthor(id: "author-\(number)", name: "author \(number)")) }
    }
    for first in stride(from: 0, to: rows, by: 1_000) {
      try await store.transaction { transaction in
        for number in first..<min(first + 1_000, rows) {
          let document = document(number)
          try transaction.save(document)
          try transaction.save(post(document))
        }
      }
    }
    try await store.save(BenchComment(id: "first", postID: document(rows / 2).id))
    var documents = (ours: [Double](), peer: [Double]())
    var posts = (ours: [Double](), peer: [Double]())
    for _ in 0..<rounds {
      try await measure(store, RowReading(table: "BenchDocument", file: file, rows: rows), &documents) {
        (document: BenchDocument) in document.number + (document.note?.utf8.count ?? 0)
      }
      try await measure(store, RowReading(table: "BenchPost", file: file, rows: rows), &posts) { (post: BenchPost) in
        // The key of a reference is read with the row; the peer sums up its length, too.
        post.number + (post.note?.utf8.count ?? 0) + (post.author.identifiers?["id"]?.string?.utf8.count ?? 0)
      }
    }
    // A list holds what selects its records.
    let middle = try await store.query(BenchPost.self, sort: .ascending(BenchPost.keys.number))[rows / 2]
    guard try await middle.comments.get().map(\.id) == ["first"] else {
      throw Failure(description: "a list does not lead to its records")
    }
    var figure = BenchFigure("decode")
    figure.add("rows", rows)
    add(documents, "", to: &figure)
    add(posts, "related_", to: &figure)
    figure.print()
  }

  private static func add(_ costs: (ours: [Double], peer: [Double]), _ prefix: String, to figure: inout BenchFigure) {
    func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
    figure.add(prefix + "ours_us", median(costs.ours))
    figure.add(prefix + "peer_us", median(costs.peer))
    figure.add(prefix + "ours_to_peer", median(zip(costs.ours, costs.peer).map { $0 / $1 }))
  }

  /// One round of each; `value` is what the two must agree about in sum.
  private static func measure<M: Model>(
    _ store: DataStore, _ peer: RowReading, _ costs: inout (ours: [Double], peer: [Double]), _ value: (M) -> Int
  ) async throws {
    let start = CPUTime.now()
    let found = try await store.query(M.self)
    costs.ours.append(Double((CPUTime.now() - start).processor) / Double(peer.rows) / 1_000)
    let (cost, sum) = try peer.run()
    costs.peer.append(Double(cost.processor) / Double(peer.rows) / 1_000)
    guard found.count == peer.rows, found.reduce(0, { $0 + value($1) }) == sum else {
      throw Failure(description: "the two have read different rows")
    }
  }

  private static func document(_ number: Int) -> BenchDocument {
    BenchDocument(
      id: "document-\(number)", title: "number \(number) of them", number: number, rating: Double(number) / 7,
      isOpen: number.isMultiple(of: 2), text: "some text for the size of it, and a little more of it",
      note: number.isMultiple(of: 3) ? nil : "a note")
  }

  private static func post(_ document: BenchDocument) -> BenchPost {
    BenchPost(
      id: document.id, title: document.title, number: document.number, rating: document.rating,
      isOpen: document.isOpen, text: document.text, note: document.note,
      author: LazyReference(id: "author-\(document.number % 100)"))
  }
}
