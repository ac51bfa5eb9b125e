/// What bounds one list, as it is read.
struct ListBounds {
  /// Rows of a page at most.
  var pageRows: Int
  /// Rows that are looked at for a page at most.
  var scannedRows: Int
  /// Values of one `in` that are sought one after the other.
  var soughtValues: Int

  init(_ limits: StoreLimits = StoreLimits()) {
    pageRows = limits.pageRows
    scannedRows = limits.scannedRows
    soughtValues = limits.soughtValues
  }

  /// The same without a bound of the rows.
  var unbounded: ListBounds {
    var bounds = self
    (bounds.pageRows, bounds.scannedRows) = (.max, .max)
    return bounds
  }
}
