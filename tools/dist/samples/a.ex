defmodule A do
  def alpha_ex(x) do
    x
  end
end
