// Command golumber_peer is go-lumber as a live peer: a server that acknowledges every batch, or a client that sends batches without end.
//
//	golumber_peer server -listen 127.0.0.1:5044 [-cert server.pem -key server.key]
//	golumber_peer client -connect 127.0.0.1:5044 [-ca ca.pem] [-window 3]
//
// `wiregen vectors run` holds either to the traces of Lumberjack; README.md.
package main

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"time"

	client "github.com/elastic/go-lumber/client/v2"
	lumberlog "github.com/elastic/go-lumber/log"
	server "github.com/elastic/go-lumber/server/v2"
)

const pause = 20 * time.Millisecond

type silent struct{}

func (silent) Printf(string, ...interface{}) {}
func (silent) Println(...interface{})        {}
func (silent) Print(...interface{})          {}

func main() {
	log.SetFlags(0)
	if len(os.Args) < 2 {
		log.Fatal("usage: golumber_peer server|client [flags]")
	}
	lumberlog.Logger = silent{}
	var err error
	switch os.Args[1] {
	case "server":
		err = serve(os.Args[2:])
	case "client":
		err = send(os.Args[2:])
	default:
		err = fmt.Errorf("there is no role %q: server or client", os.Args[1])
	}
	if err != nil {
		log.Fatal(err)
	}
}

// serve acknowledges every batch at once. Its first line on stdout is the address that it listens on.
func serve(arguments []string) error {
	flags := flag.NewFlagSet("server", flag.ExitOnError)
	address := flags.String("listen", "127.0.0.1:0", "host:port")
	cert := flags.String("cert", "", "PEM file of the certificate; TLS")
	key := flags.String("key", "", "PEM file of its key")
	_ = flags.Parse(arguments)
	listener, err := net.Listen("tcp", *address)
	if err != nil {
		return err
	}
	if *cert != "" {
		pair, err := tls.LoadX509KeyPair(*cert, *key)
		if err != nil {
			return err
		}
		config := &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
		listener = tls.NewListener(listener, config)
	}
	s, err := server.NewWithListener(listener)
	if err != nil {
		return err
	}
	fmt.Println(listener.Addr())
	go endWithStdin(func() { _ = s.Close() })
	for batch := range s.ReceiveChan() {
		batch.ACK()
	}
	return nil
}

// send sends batches over one connection after the other: a new one where the last one failed.
func send(arguments []string) error {
	flags := flag.NewFlagSet("client", flag.ExitOnError)
	address := flags.String("connect", "", "host:port")
	ca := flags.String("ca", "", "PEM file of whom to trust; TLS")
	window := flags.Int("window", 3, "events of a batch")
	compression := flags.Int("compression", 3, "zlib's level; 0: events go plain")
	timeout := flags.Duration("timeout", 5*time.Second, "for an acknowledgement")
	_ = flags.Parse(arguments)
	dial, err := dialer(*ca)
	if err != nil {
		return err
	}
	go endWithStdin(func() { os.Exit(0) })
	batch := make([]interface{}, *window)
	for i := range batch {
		batch[i] = map[string]interface{}{"number": i}
	}
	for {
		c, err := client.SyncDialWith(dial, *address,
			client.CompressionLevel(*compression), client.Timeout(*timeout))
		for err == nil {
			if _, err = c.Send(batch); err != nil {
				_ = c.Close()
			}
			time.Sleep(pause)
		}
		time.Sleep(pause)
	}
}

func dialer(ca string) (func(network, address string) (net.Conn, error), error) {
	if ca == "" {
		return net.Dial, nil
	}
	text, err := os.ReadFile(ca)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, errors.New("no certificate in " + ca)
	}
	config := &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	return func(network, address string) (net.Conn, error) {
		return tls.Dial(network, address, config)
	}, nil
}

// endWithStdin ends the program when whoever started it is gone.
func endWithStdin(end func()) {
	_, _ = io.Copy(io.Discard, os.Stdin)
	end()
}
