import type { ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { childrenOf } from '../lib/processes.ts'
import { EDGE_HOST, edgeConfiguration } from './edge.ts'
import {
  BRIDGED_HOST,
  LOGGED_HOST,
  SECURE_FILES_HOST,
  SECURE_HOST,
  UPLOADS_HOST,
  WORDS_HOST,
} from './ours.ts'
import { LOAD_CORE, startProgram, stopProgram, type Program, type Start } from './programs.ts'

/** The size of the body at `/large`. */
const LARGE_BODY_BYTES = 10 * 1024 * 1024
/** The approximate size of the body at `/words`. */
const WORDS_BYTES = 16 * 1024

const BASICS = (folder: string, workers: number) => `daemon off; worker_processes ${workers};
pid ${join(folder, 'nginx.pid')}; error_log ${join(folder, 'error.log')} crit; worker_rlimit_nofile 16384;
events { worker_connections 8192; }`

/** No limit on a connection's age, and temporary files in a folder that this user may write. */
const HTTP = (folder: string) => `access_log off; keepalive_requests 1000000000;
proxy_temp_path ${join(folder, 'proxy')}; client_body_temp_path ${join(folder, 'body')};
types { text/html html; application/javascript js; }`

/** Buffers for most of what is read of a large body at once; nginx's default of 8 times 4 KiB is not enough. */
const LARGE_BUFFERS =
  'proxy_buffer_size 64k; proxy_buffers 16 64k; proxy_busy_buffers_size 128k; proxy_max_temp_file_size 0;'

/** Returns a page that compresses to about a quarter. */
function words(): string {
  const text = Array.from({ length: WORDS_BYTES / 16 }, () => `<p>${randomBytes(4).toString('hex')}</p>\n`)
  return text.join('')
}

/** Starts nginx as a proxy, with TLS, HTTP/2 and a folder of files. */
export async function startNginx(start: Start, largeBuffers = false): Promise<Program> {
  const { folder, ports, certificate } = start
  const file = join(folder, 'nginx.conf')
  const edge = edgeConfiguration(folder)
  writeFileSync(
    file,
    `${BASICS(folder, start.workers)}
http { ${HTTP(folder)} ${edge.http} ${largeBuffers ? LARGE_BUFFERS : ''}
upstream app { server 127.0.0.1:${start.upstreamPort}; keepalive 256; keepalive_requests 1000000000; }
upstream uploads { server 127.0.0.1:${start.uploadsPort}; keepalive 256; keepalive_requests 1000000000; }
proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header Host $host;
proxy_set_header X-Forwarded-For $remote_addr; proxy_set_header X-Forwarded-Proto $scheme;
proxy_set_header X-Forwarded-Host $host; proxy_set_header X-Request-Id $request_id;
server { listen 127.0.0.1:${ports.plain} backlog=4096; location / { proxy_pass http://app; } }
server { listen 127.0.0.1:${ports.plain}; server_name ${WORDS_HOST}; location / { proxy_pass http://app; }
gzip on; gzip_comp_level 5; gzip_proxied any; gzip_vary on; gzip_types text/html; }
server { listen 127.0.0.1:${ports.plain}; server_name ${EDGE_HOST}; location / { proxy_pass http://app; }
${edge.server} }
${logged(folder, ports.plain)}
${start.bridged ? bridged(start.bridged, ports.plain) : ''}
ssl_protocols TLSv1.2 TLSv1.3; ssl_certificate ${certificate.certificate}; ssl_certificate_key ${certificate.key};
server { listen 127.0.0.1:${ports.secure} ssl http2 backlog=4096; server_name ${SECURE_HOST};
location / { proxy_pass http://app; } }
server { listen 127.0.0.1:${ports.secure} ssl http2; server_name ${UPLOADS_HOST}; client_max_body_size 0;
proxy_request_buffering off; location / { proxy_pass http://uploads; } }
server { listen 127.0.0.1:${ports.secure} ssl http2; server_name ${SECURE_FILES_HOST}; root ${start.files}; }
server { listen 127.0.0.1:${ports.files}; sendfile on; tcp_nopush on; root ${start.files}; } }`,
  )
  const child = await startProgram(start.cores, ['nginx', '-p', folder, '-c', file], {
    folder,
    ports: Object.values(ports),
  })
  return {
    plainPort: ports.plain,
    securePort: ports.secure,
    filesPort: ports.files,
    pids: () => [child.pid!, ...childrenOf(child.pid!)],
    workers: () => childrenOf(child.pid!),
    stop: () => stopProgram(child),
  }
}

/** Where an application listens, and the command that enters its network. */
export interface Listen {
  host: string
  port: number
  enter?: string[]
}

/** A server with a log of its own, of what ours has in its lines. */
function logged(folder: string, plainPort: number): string {
  const fields = [
    ...[
      'method $request_method',
      'host $host',
      'path $request_uri',
      'status $status',
      'bytes $body_bytes_sent',
    ],
    ...['duration $request_time', 'ip $remote_addr', 'user_agent $http_user_agent', 'request_id $request_id'],
    'instance $upstream_addr',
  ]
  const line = fields.map((field) => field.replace(/(.*) (.*)/, '"$1":"$2"')).join(',')
  return `log_format lines escape=json '{"ts":"$msec",${line}}';
server { listen 127.0.0.1:${plainPort}; server_name ${LOGGED_HOST}; access_log ${join(folder, 'access.log')} lines;
location / { proxy_pass http://app; } }`
}

function bridged({ host, port }: { host: string; port: number }, plainPort: number): string {
  return `upstream bridged { server ${host}:${port}; keepalive 256; keepalive_requests 1000000000; }
server { listen 127.0.0.1:${plainPort}; server_name ${BRIDGED_HOST}; location / { proxy_pass http://bridged; } }`
}

/** Starts the application behind every proxy: 1 KiB at `/`, 10 MiB at `/large`, 16 KiB of words at `/words`. */
export async function startUpstream(folder: string, listen: Listen): Promise<ChildProcess> {
  const { host, port, enter = [] } = listen
  writeFileSync(join(folder, 'large'), randomBytes(LARGE_BODY_BYTES))
  writeFileSync(join(folder, 'words'), words())
  const file = join(folder, 'upstream.conf')
  writeFileSync(
    file,
    `${BASICS(folder, 1)}
http { ${HTTP(folder)} default_type text/html; sendfile on;
server { listen ${host}:${port} backlog=4096;
add_header Cache-Control "private, max-age=0"; add_header ETag '"5f3c-1a2b3c4d"'; add_header Vary Accept-Encoding;
location / { return 200 "${'x'.repeat(1024)}"; }
location /large { root ${folder}; } location /words { root ${folder}; } } }`,
  )
  const [command, ...args] = [...enter, 'nginx', '-p', folder, '-c', file]
  return startProgram(LOAD_CORE, [command, ...args], { folder, ports: [port], host })
}
