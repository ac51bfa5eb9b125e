/// A position in the result tree.
struct ResultStep {
  var container: ResultContainer
  var index: Int
  /// Whether null may stand here.
  var isNullable: Bool
}
