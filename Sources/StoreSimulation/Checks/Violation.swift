/// What a story broke.
package struct Violation: Sendable, Hashable, CustomStringConvertible {
  /// The promise, by its number, and what is checked of it.
  package enum Check: String, Sendable, Hashable, CaseIterable {
    case order = "P1 order"
    case noGap = "P2 no gap"
    case noDuplicate = "P3 no duplicate"
    case discontinuity = "P4 honest discontinuity"
    case startPoint = "P5 start point"
    case snapshots = "P6 snapshot and deltas"
    case atomicity = "P7 atomicity"
    case reload = "P8 reload without loss"
    case bounds = "P9 bounded memory"
    case revocation = "P10 revocation"
    case localEcho = "P11 local echo"
    case oneFate = "P12 one fate"
    case sessions = "P13 session guarantees"
    case convergence = "P14 convergence"
    case noLoss = "P15 no silent loss"
    case idempotence = "P16 idempotent upload"
    case durability = "P17 durability"
    case determinism = "P18 determinism"
    case failure = "no failure of the store"
  }

  package var check: Check
  package var text: String

  package init(check: Check, text: String) {
    self.check = check
    self.text = text
  }

  package var description: String { "\(check.rawValue): \(text)" }
}
