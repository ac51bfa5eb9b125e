internal import MartletRuntime

/// Leads from any loop to the one that serves the channels.
package final class ChannelDesk: Sendable {
  private let place: LoopBound<ChannelPlace>

  init(on loop: any Loop) {
    place = LoopBound(ChannelPlace(), on: loop)
  }

  /// Serves the channels from now on. On the loop.
  func attach(_ service: ChannelService?) { place.value.service = service }

  /// Runs `work` on the loop with the service; with nil while the server does not serve.
  func ask(_ work: @escaping @Sendable (ChannelService?) -> Void) {
    place.loop.execute { [place] in work(place.value.service) }
  }

  /// Confined to its loop.
  private final class ChannelPlace {
    var service: ChannelService?
  }
}
