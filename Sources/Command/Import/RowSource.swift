import MartletCommandLine

/// The rows of a file, one after the other.
protocol RowSource {
  /// The columns of a CSV file; empty for files whose rows name their fields.
  var header: [String] { get }
  /// Bytes of the file that have been read, or of what its rows hold.
  var taken: Int { get }
  /// How much has been read, from 0 to 1.
  var fraction: Double { get }
  /// The next row; nil at the end.
  mutating func next() throws(CommandFailure) -> ImportRow?
}

extension RowReader: RowSource {}
