def alpha_rb
  1
end
