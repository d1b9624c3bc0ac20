object A {
  def alphaScala(): Int = 1
}
