import MartletCommandLine
import MartletJSON

/// One row of an import file, with the line it begins on.
enum ImportRow: Equatable {
  case cells([String], line: Int)
  case object(JSONObject, line: Int)
}

/// Reads comma-separated values (RFC 4180) or JSON lines, row by row.
struct RowReader {
  enum Format: String {
    case csv
    case jsonl
  }

  /// The columns of a CSV file; empty for JSON lines.
  private(set) var header: [String] = []
  private let source: ByteSource
  private let format: Format
  private var line = 1

  init(_ source: ByteSource, format: Format) throws(CommandFailure) {
    self.source = source
    self.format = format
    // A byte order mark; any other text that begins with its first byte is not ASCII, and not a column's name.
    if try source.peek() == 0xEF { for _ in 0..<3 { _ = try source.next() } }
    guard format == .csv else { return }
    guard case .cells(let cells, _)? = try nextRecord() else {
      throw CommandFailure(.badData, "The file is empty: a CSV file begins with a line of column names.")
    }
    var seen: Set<[UInt8]> = []
    for cell in cells where !seen.insert(Array(cell.utf8)).inserted {
      throw CommandFailure(.badData, "The column '\(cell)' is there twice.")
    }
    header = cells
  }

  init(_ bytes: [UInt8], format: Format) throws(CommandFailure) {
    try self.init(ByteSource(bytes), format: format)
  }

  /// Bytes that have been read.
  var taken: Int { source.taken }

  /// How much has been read, from 0 to 1.
  var fraction: Double {
    guard let size = source.size else { return 0 }
    return size == 0 ? 1 : min(1, Double(source.taken) / Double(size))
  }

  /// The next row; nil at the end.
  mutating func next() throws(CommandFailure) -> ImportRow? {
    switch format {
    case .csv:
      guard let row = try nextRecord() else { return nil }
      if case .cells(let cells, let line) = row, cells.count != header.count {
        throw CommandFailure(
          .badData, "Line \(line): \(Count.of(cells.count, "cell")) under \(Count.of(header.count, "column")).")
      }
      return row
    case .jsonl: return try nextObject()
    }
  }

  private mutating func nextObject() throws(CommandFailure) -> ImportRow? {
    while try source.peek() != nil {
      var text: [UInt8] = []
      while let byte = try source.next(), byte != UInt8(ascii: "\n") { text.append(byte) }
      let at = line
      line += 1
      if text.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) { continue }
      do {
        guard let object = try JSONValue(parsing: text).object else {
          throw CommandFailure(.badData, "Line \(at): not a JSON object.")
        }
        return .object(object, line: at)
      } catch let failure as CommandFailure {
        throw failure
      } catch {
        throw CommandFailure(.badData, "Line \(at): \(error).")
      }
    }
    return nil
  }

  private mutating func nextRecord() throws(CommandFailure) -> ImportRow? {
    var cells: [String] = []
    var cell: [UInt8] = []
    var isQuoted = false
    var start = line
    while let byte = try source.next() {
      switch byte {
      case UInt8(ascii: "\"") where isQuoted:
        if try source.peek() == byte {
          cell.append(byte)
          _ = try source.next()
        } else {
          isQuoted = false
        }
      case _ where isQuoted:
        if byte == UInt8(ascii: "\n") { line += 1 }
        cell.append(byte)
      case UInt8(ascii: "\"") where cell.isEmpty: isQuoted = true
      case UInt8(ascii: ","):
        cells.append(try text(cell))
        cell.removeAll(keepingCapacity: true)
      case UInt8(ascii: "\r"):
        // Before a line feed it ends the line, elsewhere it is a character of the cell.
        if let next = try source.peek(), next != UInt8(ascii: "\n") { cell.append(byte) }
      case UInt8(ascii: "\n"):
        if cells.isEmpty, cell.isEmpty {
          line += 1
          start = line
          continue
        }
        cells.append(try text(cell))
        line += 1
        return .cells(cells, line: start)
      default: cell.append(byte)
      }
    }
    guard !isQuoted else { throw CommandFailure(.badData, "Line \(start): a quote is not closed.") }
    guard !cells.isEmpty || !cell.isEmpty else { return nil }
    cells.append(try text(cell))
    return .cells(cells, line: start)
  }

  private func text(_ cell: [UInt8]) throws(CommandFailure) -> String {
    let text = String(decoding: cell, as: UTF8.self)
    guard text.utf8.elementsEqual(cell) else { throw CommandFailure(.badData, "Line \(line): not UTF-8 text.") }
    return text
  }
}
