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
  private let bytes: [UInt8]
  private let format: Format
  private(set) var offset = 0
  private var line = 1

  init(_ bytes: [UInt8], format: Format) throws(CommandFailure) {
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    self.bytes = bytes.starts(with: mark) ? Array(bytes.dropFirst(3)) : bytes
    self.format = format
    guard format == .csv else { return }
    guard case .cells(let cells, _)? = try nextRecord() else {
      throw CommandFailure(.badData, "The file is empty: a CSV file begins with a line of column names.")
    }
    header = cells
  }

  /// How much has been read, from 0 to 1.
  var fraction: Double { bytes.isEmpty ? 1 : Double(offset) / Double(bytes.count) }

  /// The next row; nil at the end.
  mutating func next() throws(CommandFailure) -> ImportRow? {
    switch format {
    case .csv:
      guard let row = try nextRecord() else { return nil }
      if case .cells(let cells, let line) = row, cells.count != header.count {
        throw CommandFailure(.badData, "Line \(line): \(cells.count) cells under \(header.count) columns.")
      }
      return row
    case .jsonl: return try nextObject()
    }
  }

  private mutating func nextObject() throws(CommandFailure) -> ImportRow? {
    while offset < bytes.count {
      let end = bytes[offset...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
      let text = Array(bytes[offset..<end])
      let at = line
      offset = end + 1
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
    offset = bytes.count
    return nil
  }

  private mutating func nextRecord() throws(CommandFailure) -> ImportRow? {
    var cells: [String] = []
    var cell: [UInt8] = []
    var isQuoted = false
    var start = line
    while offset < bytes.count {
      let byte = bytes[offset]
      offset += 1
      switch byte {
      case UInt8(ascii: "\"") where isQuoted:
        if offset < bytes.count, bytes[offset] == byte {
          cell.append(byte)
          offset += 1
        } else {
          isQuoted = false
        }
      case _ where isQuoted:
        if byte == UInt8(ascii: "\n") { line += 1 }
        cell.append(byte)
      case UInt8(ascii: "\"") where cell.isEmpty: isQuoted = true
      case UInt8(ascii: ","):
        cells.append(String(decoding: cell, as: UTF8.self))
        cell.removeAll(keepingCapacity: true)
      case UInt8(ascii: "\r"): break
      case UInt8(ascii: "\n"):
        line += 1
        if cells.isEmpty, cell.isEmpty {
          start = line
          continue
        }
        cells.append(String(decoding: cell, as: UTF8.self))
        return .cells(cells, line: start)
      default: cell.append(byte)
      }
    }
    guard !isQuoted else { throw CommandFailure(.badData, "Line \(start): a quote is not closed.") }
    guard !cells.isEmpty || !cell.isEmpty else { return nil }
    cells.append(String(decoding: cell, as: UTF8.self))
    return .cells(cells, line: start)
  }
}
