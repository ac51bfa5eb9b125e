import Foundation
import MartletCommandLine
import MartletLoop
import MartletRuntime
import MartletSockets
import MartletVocabulary
import MartletWire

/// The Swift floor of the fan-out: the loop and channels of the server, sending the frames of a server that has done
/// all its work beforehand. Same marks in the frame and same commands as `Benchmarks/Tools/floor.c`.
enum FloorSender {
  static func run(port: Int, frame: String) throws {
    let loop = try EpollLoop.start(name: "martlet-floor")
    let floor = try FloorState(frame: frame.trimmingCharacters(in: .newlines))
    let bound = LoopBound(floor, on: loop)
    let listener = try SocketListener.start(SocketListener.Options(port: port), on: [loop]) { channel in
      UpgradingConnection(
        channel, .init(subprotocol: "graphql-transport-ws"), handler: FloorMember(floor: bound.value))
    }
    Console.out("listening \(listener.port)")
    while let line = readLine() {
      let words = line.split(separator: " ").compactMap { Int($0) }
      guard line.hasPrefix("go "), words.count == 3 else { continue }
      loop.execute { bound.value.start(rounds: words[0], burst: words[1], interval: words[2], on: loop) }
    }
    loop.stop()
    loop.waitUntilStopped()
  }
}

/// The subscribers of a floor and what they are sent. Confined to its loop.
private final class FloorState {
  let head: [UInt8]
  private let tail: [String]
  private var members: [FloorMember] = []
  private var number = 0
  private var rounds = 0

  init(frame: String) throws {
    let parts = frame.components(separatedBy: "@I@")
    guard parts.count == 2 else { throw UsageError("The frame needs the mark @I@ once.") }
    head = Array(parts[0].utf8)
    // Marks and text by turns: splitting at '@' leaves the mark's letter between two pieces.
    tail = parts[1].components(separatedBy: "@")
  }

  func add(_ member: FloorMember) {
    members.append(member)
  }

  func start(rounds: Int, burst: Int, interval: Int, on loop: EpollLoop) {
    self.rounds = rounds
    let first = loop.now + .microseconds(interval)
    loop.schedule(at: first) { self.turn(burst, interval, due: first, on: loop) }
  }

  private func turn(_ burst: Int, _ interval: Int, due: Instant, on loop: EpollLoop) {
    var tails: [[UInt8]] = []
    for _ in 0..<burst {
      tails.append(text(of: number))
      number += 1
    }
    for member in members { member.send(tails) }
    rounds -= 1
    if rounds == 0 { return Console.out("done \(loop.counters.sends) sends") }
    let next = due + .microseconds(interval)
    loop.schedule(at: next) { self.turn(burst, interval, due: next, on: loop) }
  }

  private func text(of number: Int) -> [UInt8] {
    var text = ""
    for (index, piece) in tail.enumerated() {
      switch (index % 2, piece) {
      case (1, "N"): text += "\(number)"
      case (1, "O"): text += "\(number + 1)"
      case (1, "X"): text += Self.checksum(number)
      default: text += piece
      }
    }
    return Array(text.utf8)
  }

  /// FNV-1a over the decimal digits, in 16 hexadecimal ones.
  private static func checksum(_ number: Int) -> String {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for digit in "\(number)".utf8 { hash = (hash ^ UInt64(digit)) &* 0x100_0000_01b3 }
    let digits = String(hash, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }
}

/// One subscriber: takes the few messages of the load client.
private final class FloorMember: UpgradedHandler {
  private let floor: FloorState
  var socket: WebSocketChannel?
  /// What stands before the part of a frame that all members have.
  private var prefix: [UInt8] = []

  init(floor: FloorState) {
    self.floor = floor
  }

  func received(text: [UInt8]) {
    let message = String(decoding: text, as: UTF8.self)
    if message.contains("connection_init") {
      socket?.send(text: Array(#"{"type":"connection_ack","payload":{"martlet":{"cursors":true}}}"#.utf8))
    } else if message.contains(#""subscribe""#) {
      let parts = message.components(separatedBy: "\"")
      // {"id":"ID" and so on: the id is the fourth piece.
      guard parts.count > 3 else { return }
      prefix = floor.head + Array(parts[3].utf8)
      floor.add(self)
      socket?.send(text: Array(#"{"id":"\#(parts[3])","type":"ready","cursor":"f-0"}"#.utf8))
    }
  }

  /// Joins the frames of one burst into the turn's one send, by the code that the server writes its frames with.
  func send(_ tails: [[UInt8]]) {
    socket?.channel.write { buffer in
      for tail in tails { WebSocketFrame.appendText(prefix: prefix, payload: tail, suffix: [], to: &buffer.bytes) }
    }
  }

  func closed(_ closure: WebSocketClosure) {
    socket = nil
  }
}
