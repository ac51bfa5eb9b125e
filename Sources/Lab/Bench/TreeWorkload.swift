import MartletJSONTree

/// Writes of one leaf of the synced tree with a listener on the whole node and one on its last fifty children, answered
/// by the server, for nodes of different sizes: what a write costs depends on depth and listeners, not on the size.
enum TreeWorkload {
  static let sizes = [100, 1_000, 10_000, 100_000, 1_000_000]

  static func run(operations: Int, largest: Int) {
    var figure = BenchFigure("tree")
    figure.add("operations", operations)
    var costs: [Double] = []
    for size in sizes where size <= largest {
      let cost = measure(size, operations)
      costs.append(Double(cost))
      figure.add("write_\(size)_ns", cost)
    }
    figure.add("ratio_percent", Int((costs.max() ?? 0) / max(1, costs.first ?? 1) * 100))
    figure.print()
  }

  private static func measure(_ size: Int, _ operations: Int) -> Int {
    let entries = (0..<size).map { number in
      (key: TreeKey(unchecked: String(number)), value: TreeNode.empty.setting(["n"], to: TreeNode(.int(1))))
    }
    var engine = TreeEngine()
    _ = engine.listen(at: .root, .all, as: ListenerID(1))
    _ = engine.listen(at: .root, Window(limit: .last(50)), as: ListenerID(2))
    _ = engine.serverOverwrite(.root, with: TreeNode(children: SortedMap(sorted: entries)))
    var (number, events): (Int64, Int) = (0, 0)
    let (shown, window) = (Int64(size), Int64(50))
    let cost = CPUTime.each(operations) {
      number += 1
      // Every second write concerns both listeners, whatever the size.
      let place = number * 7_919
      let child = number % 2 == 0 ? place % (shown - window) : shown - 1 - place % window
      let path: TreePath = [TreeKey(unchecked: String(child)), "n"]
      events += engine.overwrite(path, with: TreeNode(.int(number)), id: number).events.count
      events += engine.serverOverwrite(path, with: TreeNode(.int(number))).events.count
      events += engine.acknowledge(number).events.count
    }
    precondition(events >= operations, "each write is shown")
    return Int(cost)
  }
}
