public func alphaSwift() -> Int {
  return 1
}
