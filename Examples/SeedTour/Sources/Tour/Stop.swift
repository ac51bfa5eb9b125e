/// One thing to see, in a file of its own.
protocol Stop: SendableMetatype {
  static var title: String { get }
  /// Shows it; what there is to see is written to the visit's transcript.
  static func visit(_ visit: Visit) async throws
}

/// What a stop works with.
struct Visit: Sendable {
  /// A `martlet serve --dev` of the tour's schema.
  let server: ServeProcess
  let told: Transcript
}

/// Something that should have happened and did not.
struct TourFailure: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
