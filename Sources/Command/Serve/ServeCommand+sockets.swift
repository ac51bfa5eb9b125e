import Foundation
import MartletCommandLine
import MartletServer
import MartletSockets

extension ServeCommand {
  /// Takes over the sockets that a service manager has started the process with, if it has.
  static func adoptSockets(
    _ configuration: inout ServerConfiguration, _ arguments: ParsedArguments,
    environment: [String: String] = ProcessInfo.processInfo.environment
  ) throws {
    let sockets: ActivatedSockets
    do throws(ActivatedSockets.Refusal) {
      sockets = try ActivatedSockets(environment, process: ProcessInfo.processInfo.processIdentifier)
    } catch {
      throw CommandFailure(.configuration, error.description)
    }
    if let socket = sockets.clients {
      (configuration.address, configuration.port) = try place(socket, arguments, besides: ["address", "port"])
      configuration.listeningSocket = socket
    }
    if let socket = sockets.administration {
      let options = ["admin-address", "admin-port"]
      let (address, port) = try place(socket, arguments, besides: options)
      (configuration.adminAddress, configuration.adminPort) = (address, port)
      configuration.adminListeningSocket = socket
    }
  }

  /// Where a socket listens. Options that say otherwise would be ignored, so that they are refused.
  private static func place(
    _ socket: Int32, _ arguments: ParsedArguments, besides options: [String]
  ) throws -> (address: String, port: Int) {
    if let option = options.first(where: { arguments.value($0) != nil }) {
      throw UsageError("The service manager hands over the socket: leave --\(option) out.")
    }
    do {
      let place = try InheritedSocket.place(socket)
      return (place.host, place.port)
    } catch {
      throw CommandFailure(.configuration, "\(error)")
    }
  }
}
