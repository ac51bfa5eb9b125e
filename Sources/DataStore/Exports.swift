@_exported public import MartletCore
