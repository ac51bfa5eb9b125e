internal import MartletChangeFeed
internal import MartletChannels
internal import MartletVocabulary

/// Where the events of a channel come from. Confined to its loop.
protocol ChannelSourcing: AnyObject {
  /// Begins after the channel's position: reads what is needed, and appends what has happened since.
  ///
  /// - Parameter cursor: The position as it was recorded; nil for a new channel, which begins where the log is.
  func begin(after cursor: Cursor?)
  /// The channel has room again.
  func resume()
  /// A batch of the log was committed.
  func apply(_ batch: ChangeBatch)
  /// Everything up to here was appended or does not concern the channel; nil while it is not known.
  var followed: Int64? { get }
  func stop()
}
