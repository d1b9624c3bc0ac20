public class A {
  public int alphaJava() {
    return 1;
  }
}
