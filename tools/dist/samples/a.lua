function alpha_lua()
  return 1
end
