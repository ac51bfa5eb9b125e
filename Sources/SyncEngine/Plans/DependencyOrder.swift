/// Orders models so that each comes after the models it belongs to. Models of a cycle keep their order: a child whose
/// parent has not come is stored and shown all the same.
package enum DependencyOrder {
  /// - Parameter parents: by position, the positions of the models that a model belongs to.
  package static func order(parents: [[Int]]) -> [Int] {
    var order: [Int] = []
    var isPlaced = [Bool](repeating: false, count: parents.count)
    var isOpen = isPlaced
    func place(_ model: Int) {
      guard parents.indices.contains(model), !isPlaced[model], !isOpen[model] else { return }
      isOpen[model] = true
      for parent in parents[model] { place(parent) }
      isPlaced[model] = true
      order.append(model)
    }
    for model in parents.indices { place(model) }
    return order
  }
}
