/// A page is the collection of its records.
///
///     let page = try await Martlet.API.query(request: .list(Todo.self)).get()
///     for todo in page { print(todo.text) }
extension ModelPage: RandomAccessCollection, MutableCollection {
  /// The first record's position.
  public var startIndex: Int { items.startIndex }
  /// The position after the last record's.
  public var endIndex: Int { items.endIndex }

  /// The record at a position.
  public subscript(position: Int) -> Item {
    get { items[position] }
    set { items[position] = newValue }
  }
}
