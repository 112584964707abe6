import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SECURE_FILES_HOST, SECURE_HOST, UPLOADS_HOST } from './ours.ts'
import { startProgram, stopProgram, type Program, type Start } from './programs.ts'

/** Starts Caddy as a proxy, with TLS, HTTP/2 and a folder of files. */
export async function startCaddy(start: Start): Promise<Program> {
  const { folder, ports, certificate } = start
  const file = join(folder, 'Caddyfile')
  const proxyTo = (port: number) => `reverse_proxy 127.0.0.1:${port} {
    header_up X-Request-Id {http.request.uuid}
    transport http {
      keepalive_idle_conns_per_host 256
    }
  }`
  const proxy = proxyTo(start.upstreamPort)
  writeFileSync(
    file,
    `{
  admin off
  auto_https off
}
http://:${ports.plain} {
  bind 127.0.0.1
  ${proxy}
}
https://${SECURE_HOST}:${ports.secure} {
  bind 127.0.0.1
  tls ${certificate.certificate} ${certificate.key}
  ${proxy}
}
https://${UPLOADS_HOST}:${ports.secure} {
  bind 127.0.0.1
  tls ${certificate.certificate} ${certificate.key}
  ${proxyTo(start.uploadsPort)}
}
https://${SECURE_FILES_HOST}:${ports.secure} {
  bind 127.0.0.1
  tls ${certificate.certificate} ${certificate.key}
  root * ${start.files}
  file_server
}
http://:${ports.files} {
  bind 127.0.0.1
  root * ${start.files}
  file_server
}
`,
  )
  const child = await startProgram(
    start.cores,
    ['caddy', 'run', '--adapter', 'caddyfile', '--config', file],
    {
      folder,
      ports: Object.values(ports),
      env: { GOMAXPROCS: String(start.workers), XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
    },
  )
  return {
    plainPort: ports.plain,
    securePort: ports.secure,
    filesPort: ports.files,
    pids: () => [child.pid!],
    workers: () => [child.pid!],
    stop: () => stopProgram(child),
  }
}
