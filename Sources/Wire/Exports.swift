@_exported public import MartletHTTPWire
