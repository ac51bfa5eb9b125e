import MartletCommandLine

/// A figure on its way to standard output.
struct BenchFigure {
  private var members: [String] = []

  /// A figure of a workload.
  init(_ workload: String) {
    add("workload", text: workload)
  }

  mutating func add(_ name: String, text: String) {
    members.append("\"\(name)\":\"\(text)\"")
  }

  mutating func add(_ name: String, _ value: Int) {
    members.append("\"\(name)\":\(value)")
  }

  mutating func add(_ name: String, _ value: Double) {
    members.append("\"\(name)\":\((value * 1000).rounded() / 1000)")
  }

  /// Prints the figure at once, also into a pipe.
  func print() {
    Console.out("{\(members.joined(separator: ","))}")
  }
}
