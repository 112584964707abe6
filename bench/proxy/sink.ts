// The application that takes uploads: it reads the whole body before it answers. Its argument is the port.
import { createServer } from 'node:http'

const server = createServer((request, response) => {
  request.on('end', () => response.writeHead(204).end())
  request.resume()
})
server.keepAliveTimeout = 0
server.listen(Number(process.argv[2]), '127.0.0.1', 4096)
