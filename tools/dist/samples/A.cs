public class A {
  public int AlphaCs() {
    return 1;
  }
}
