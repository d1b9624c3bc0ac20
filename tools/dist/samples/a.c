int alpha_c(void) {
  return 1;
}
