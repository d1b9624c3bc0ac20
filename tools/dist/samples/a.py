def alpha_py():
    return 1
