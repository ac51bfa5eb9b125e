extension [Change] {
  /// The changes with larger offsets; the array is in the order of offsets.
  package func after(_ offset: Int64) -> ArraySlice<Change> {
    var low = 0
    var high = count
    while low < high {
      let middle = (low + high) / 2
      if self[middle].offset <= offset { low = middle + 1 } else { high = middle }
    }
    return self[low...]
  }
}
