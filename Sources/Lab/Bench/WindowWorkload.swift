import MartletCommandLine
import MartletDatasync

/// The client's part of a window of fifty over many children: its processor time from a started program to the last
/// child of the first value, and the memory of its process.
enum WindowWorkload {
  static func run(url: String, path: String) async throws {
    let start = CPUTime.now()
    let application = MartletApplication(configuration: DatasyncConfiguration(url: url))
    let manager = application.datasyncService.createManager()
    let events = try manager.nodeThrows(for: path).events(.children, window: .last(50))
    var (iterator, count) = (events.makeAsyncIterator(), 0)
    guard try await iterator.next() != nil else { throw UsageError("The window ended.") }
    let first = CPUTime.now() - start
    count = 1
    while count < 50, try await iterator.next() != nil { count += 1 }
    let all = CPUTime.now() - start
    var figure = BenchFigure("window")
    figure.add("children", count)
    figure.add("first_us", Double(first.processor) / 1000)
    figure.add("cpu_us", Double(all.processor) / 1000)
    figure.add("seconds", Double(all.elapsed) / 1e9)
    figure.add("peak_memory_kib", PeakMemory.kibibytes)
    figure.print()
    application.datasyncService.shutDown()
  }
}
