alpha_sh() {
  echo 1
}
