import MartletRuntime

/// A file that a request sends without holding it.
package protocol UploadFile: Sendable {
  /// Its name, for errors.
  var name: String { get }
  /// Its length when the request was made.
  var length: Int { get }
  /// Opens it. Waits for the disk: not on a loop.
  func open() throws -> any UploadFileReader
}

/// A file that is being read; used by one task at a time.
package protocol UploadFileReader: Sendable {
  /// The next bytes, at most so many; none at the end. Waits for the disk: not on a loop.
  func read(_ count: Int) throws -> [UInt8]
}

/// A request's body.
package struct RequestBody: Sendable {
  package enum Piece: Sendable {
    case bytes([UInt8])
    case file(any UploadFile)
  }

  package var pieces: [Piece]

  package init(_ pieces: [Piece]) {
    self.pieces = pieces
  }

  package init(_ bytes: [UInt8]) {
    pieces = [.bytes(bytes)]
  }

  /// Known before anything is read.
  package var length: Int {
    pieces.reduce(0) { sum, piece in
      switch piece {
      case .bytes(let bytes): sum + bytes.count
      case .file(let file): sum + file.length
      }
    }
  }

  /// The body when it is all in memory and in one stretch.
  var whole: [UInt8]? {
    guard pieces.count == 1, case .bytes(let bytes)? = pieces.first else { return nil }
    return bytes
  }
}

/// Sends a body with files over a channel, a stretch at a time: files are read in tasks of their own, and the next
/// stretch is read when the last one has left. Confined to its loop.
final class BodyPump {
  /// Bytes read at a time, and so about what is held of a body: large enough that a disk is read well, small enough for
  /// many uploads at once.
  static let stretch = 65_536

  private let channel: any ByteChannel
  private let spawner: any Spawner
  private var rest: ArraySlice<RequestBody.Piece>
  /// Of a piece in memory, what has not been sent: a channel takes only so much at a time.
  private var memory: ArraySlice<UInt8> = []
  private var file: (source: any UploadFile, reader: (any UploadFileReader)?, left: Int)?
  private var reading: SpawnedTask?
  private var isWaitingForRoom = false
  private var failed: ((HTTPLoss.Cause) -> Void)?
  /// A stretch has been sent.
  private var moved: (() -> Void)?
  /// Everything has been handed to the channel.
  private(set) var isDone = false
  /// The most bytes that waited in the channel.
  private(set) var highWater = 0

  init(
    _ body: RequestBody, to channel: any ByteChannel, spawner: any Spawner, moved: @escaping () -> Void,
    failed: @escaping (HTTPLoss.Cause) -> Void
  ) {
    self.channel = channel
    self.spawner = spawner
    rest = body.pieces[...]
    self.moved = moved
    self.failed = failed
  }

  /// Continues with what comes next; called again when the channel has room.
  func run() {
    isWaitingForRoom = false
    while reading == nil, failed != nil {
      guard channel.pendingBytes < Self.stretch else { return waitForRoom() }
      if !memory.isEmpty {
        send(Array(memory.prefix(Self.stretch)))
        memory = memory.dropFirst(Self.stretch)
      } else if let file {
        if file.left > 0 { return read(file) }
        self.file = nil
      } else if let piece = rest.popFirst() {
        switch piece {
        case .bytes(let bytes): memory = bytes[...]
        case .file(let source): file = (source, nil, source.length)
        }
      } else {
        isDone = true
        return stop()
      }
    }
  }

  /// The channel has sent what it had.
  func drained() {
    if isWaitingForRoom { run() }
  }

  /// Sends nothing more.
  func stop() {
    reading?.cancel()
    reading = nil
    failed = nil
    moved = nil
    rest = []
    memory = []
    file = nil
  }

  private func send(_ bytes: [UInt8]) {
    channel.write { $0.append(bytes) }
    highWater = max(highWater, channel.pendingBytes)
    moved?()
  }

  /// What is written leaves at the end of the turn; a channel that could not take it all says when it has.
  private func waitForRoom() {
    isWaitingForRoom = true
    // In a later turn, when the channel has handed on what it could.
    let bound = LoopBound(self, on: channel.loop)
    channel.loop.execute {
      let pump = bound.value
      if pump.isWaitingForRoom, pump.channel.pendingBytes < Self.stretch { pump.run() }
    }
  }

  private func read(_ file: (source: any UploadFile, reader: (any UploadFileReader)?, left: Int)) {
    let bound = LoopBound(self, on: channel.loop)
    let count = min(file.left, Self.stretch)
    reading = spawner.spawn {
      let result: Result<(any UploadFileReader, [UInt8]), any Error>
      do {
        let reader = try file.reader ?? file.source.open()
        result = .success((reader, try reader.read(count)))
      } catch {
        result = .failure(error)
      }
      bound.loop.execute { bound.value.have(result) }
    }
  }

  private func have(_ result: Result<(any UploadFileReader, [UInt8]), any Error>) {
    // Stopped meanwhile.
    guard reading != nil, let source = file?.source else { return }
    reading = nil
    switch result {
    case .success((let reader, let bytes)):
      guard !bytes.isEmpty else { return fail(source, "it is shorter than it was when the request began") }
      file?.reader = reader
      file?.left -= bytes.count
      send(bytes)
      run()
    case .failure(let error): fail(source, "\(error)")
    }
  }

  private func fail(_ source: any UploadFile, _ what: String) {
    let told = failed
    stop()
    told?(.file("\(source.name): \(what)"))
  }
}
