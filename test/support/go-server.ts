/** A Go program that answers with an expression, with system calls only: the package net takes a minute to compile. */
export const goServer = (imports: string, expression: string): string => `package main

import (
	"strconv"
	"syscall"
${imports}
)

func main() {
	number, _ := syscall.Getenv("PORT")
	port, _ := strconv.Atoi(number)
	listener, _ := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err := syscall.Bind(listener, &syscall.SockaddrInet4{Port: port}); err != nil {
		panic(err)
	}
	if err := syscall.Listen(listener, 16); err != nil {
		panic(err)
	}
	request := make([]byte, 4096)
	for {
		connection, _, err := syscall.Accept(listener)
		if err != nil {
			panic(err)
		}
		syscall.Read(connection, request)
		text := ${expression}
		head := "HTTP/1.1 200 OK\\r\\nConnection: close\\r\\nContent-Length: " + strconv.Itoa(len(text))
		syscall.Write(connection, []byte(head+"\\r\\n\\r\\n"+text))
		syscall.Close(connection)
	}
}
`
