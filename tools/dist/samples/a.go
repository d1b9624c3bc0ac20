package a

func AlphaGo() int {
	return 1
}
