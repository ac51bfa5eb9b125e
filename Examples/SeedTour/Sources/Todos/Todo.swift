import Martlet

/// The schema's `Todo`, as `Martlet.API` needs to know it.
struct Todo: Model, Equatable {
  var id: String
  var name: String
  var description: String?
  var isDone: Bool?

  enum CodingKeys: String, ModelKey { case id, name, description, isDone }

  /// One with the id of its name.
  init(_ name: String, description: String? = nil, isDone: Bool? = nil) {
    (id, self.name, self.description, self.isDone) = (name, name, description, isDone)
  }
}

extension Todo {
  /// Another client's work: makes todos one after the other, so that there is something to follow.
  static func write(_ names: String...) async throws {
    for name in names { _ = try await Martlet.API.mutate(request: .create(Todo(name))).get() }
  }
}
