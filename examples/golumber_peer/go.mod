module wiregen.dev/examples/golumber_peer

go 1.22

require github.com/elastic/go-lumber v0.1.0

require github.com/klauspost/compress v1.17.11 // indirect
