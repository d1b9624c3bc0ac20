fun alphaKt(): Int {
  return 1
}
