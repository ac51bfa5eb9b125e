import MartletDataStore

/// An item of the list.
struct Item: Model, Equatable {
  var id: String
  var text: String
  var isDone = false
  enum CodingKeys: String, ModelKey { case id, text, isDone }
}
