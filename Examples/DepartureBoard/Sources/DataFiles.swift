import Foundation

/// The example's files.
struct DataFiles {
  let folder: String

  func text(_ name: String) throws -> String {
    try String(contentsOf: URL(fileURLWithPath: folder).appendingPathComponent(name), encoding: .utf8)
  }

  func table(_ name: String) throws -> CSV { try CSV(try text("Data/\(name).csv")) }

  /// The week's steps, cut to some days and one airport on demand.
  func steps(days: Int = 7, only airport: String? = nil) throws -> [Timeline.Step] {
    let steps = try Timeline(flights: try table("flights-week1")).steps
    // Flight ids begin with the local day: 2013-01-01.
    return steps.filter { step in
      let day = Int(step.flight.id.dropFirst(8).prefix(2)) ?? 0
      return day <= days && (airport == nil || step.flight.origin == airport)
    }
  }
}
