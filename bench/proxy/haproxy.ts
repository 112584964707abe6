import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { UPLOADS_HOST } from './ours.ts'
import { startProgram, stopProgram, type Program, type Start } from './programs.ts'

/** Starts HAProxy as a proxy with TLS and HTTP/2; it serves no files. */
export async function startHaproxy(start: Start): Promise<Program> {
  const { folder, ports, certificate } = start
  const pem = join(folder, 'haproxy.pem')
  writeFileSync(pem, readFileSync(certificate.certificate) + readFileSync(certificate.key, 'utf8'))
  const file = join(folder, 'haproxy.cfg')
  writeFileSync(
    file,
    `global
  nbthread ${start.workers}
  maxconn 8192
defaults
  mode http
  option forwardfor
  http-reuse always
  timeout connect 5s
  timeout client 75s
  timeout http-request 30s
  timeout http-keep-alive 75s
  timeout server 30s
frontend plain
  bind 127.0.0.1:${ports.plain} backlog 4096
  bind 127.0.0.1:${ports.secure} backlog 4096 ssl crt ${pem} alpn h2,http/1.1
  http-request set-header X-Forwarded-Proto %[ssl_fc,iif(https,http)]
  http-request set-header X-Forwarded-Host %[req.hdr(Host)]
  http-request set-header X-Request-Id %[uuid()]
  use_backend uploads if { req.hdr(Host) -m beg ${UPLOADS_HOST} }
  default_backend app
backend uploads
  server uploads 127.0.0.1:${start.uploadsPort} pool-max-conn 256
backend app
  server app 127.0.0.1:${start.upstreamPort} pool-max-conn 256
`,
  )
  const child = await startProgram(start.cores, ['haproxy', '-db', '-f', file], {
    folder,
    ports: [ports.plain, ports.secure],
  })
  return {
    plainPort: ports.plain,
    securePort: ports.secure,
    filesPort: null,
    pids: () => [child.pid!],
    workers: () => [child.pid!],
    stop: () => stopProgram(child),
  }
}
