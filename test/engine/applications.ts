import type { FileSpec } from '../stand/git.ts'

/** A small real Express application; `text` is what it answers at `/`. */
export function expressApplication(text: string): Record<string, FileSpec> {
  return {
    'package.json': JSON.stringify({
      name: 'hello',
      version: '1.0.0',
      private: true,
      type: 'module',
      scripts: { start: 'node server.js' },
      dependencies: { express: '^5.0.0' },
    }),
    'server.js': `import express from 'express'

const app = express()
app.get('/', (request, response) => response.send(${JSON.stringify(text)}))
app.get('/env', (request, response) => response.json(process.env))
app.get('/slow', (request, response) => setTimeout(() => response.send(${JSON.stringify(text)}), 2000))
const server = app.listen(process.env.PORT, () => console.log('listening on', process.env.PORT))
process.on('SIGTERM', () => {
  console.log('SIGTERM received')
  server.close(() => process.exit(0))
})
`,
  }
}

/** A Dockerfile on the small image whose web server answers `text`. */
export function busyboxApplication(text: string): Record<string, FileSpec> {
  return {
    Dockerfile: 'FROM busybox:1\nCOPY index.html /www/\nCMD ["sh", "-c", "exec httpd -f -p $PORT -h /www"]\n',
    'index.html': text,
  }
}
