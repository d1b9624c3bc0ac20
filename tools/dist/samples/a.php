<?php
function alpha_php() {
  return 1;
}
