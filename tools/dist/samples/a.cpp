namespace n {
int alpha_cpp() {
  return 1;
}
}
