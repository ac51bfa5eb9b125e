import MartletDataStore
import MartletGraphQLClient

struct Post: Model, Equatable {
  enum Status: String, Codable, CaseIterable, QueryOperand { case draft, published }

  var id: String
  var title: String
  var rating: Double
  var status: Status?
  var tags: [String] = []
  var views: Int?
  enum CodingKeys: String, ModelKey { case id, title, rating, status, tags, views }
}

/// A record with two fields as key, and types that cannot be made from nothing.
struct Seat: StoredModel, Equatable {
  struct Number: Codable, Equatable, Sendable {
    var value: Int

    init(_ value: Int) { self.value = value }

    init(from decoder: any Decoder) throws {
      value = try decoder.singleValueContainer().decode(Int.self)
      if value == 0 { throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "no seat zero")) }
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(value)
    }
  }

  var row: String
  var number: Number
  var isTaken: Bool
  enum CodingKeys: String, ModelKey { case row, number, isTaken }
  static var primaryKey: [CodingKeys] { [.row, .number] }
  static var fieldTypes: [CodingKeys: ModelFieldType] { [.number: .integer, .isTaken: .boolean] }
}

func post(_ id: Int, _ title: String = "post", rating: Double = 0) -> Post {
  Post(id: "p\(id)", title: title, rating: rating)
}
