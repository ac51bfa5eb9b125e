/// Something watched by a loop that must let go when the loop stops.
package protocol LoopOwned: AnyObject {
  func loopStops()
}
