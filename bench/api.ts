// Measures GET /services and GET /overview with 500 services, and the memory that an upload of 512 MiB takes.
import { randomBytes } from 'node:crypto'
import { Agent, request } from 'node:http'
import { createGzip } from 'node:zlib'
import { pack } from 'tar-stream'
import { residentBytes } from '../test/support/processes.ts'
import { ask } from './lib/asking.ts'
import { formatMib, median, percentile, withServer } from './lib/stand.ts'

const SERVICES = 500
const READS = 300
/** Reads before the measurement, so that the code is compiled. */
const WARM_UP = 30
const ARCHIVE_BYTES = 511 * 1024 * 1024
const CHUNK_BYTES = 1024 * 1024

await withServer(async (server) => {
  for (let index = 0; index < SERVICES; index++) {
    await server.api('POST', '/services', {
      name: `service-${index}`,
      repo_url: 'https://git.example.com/team/app.git',
      deploy: false,
      env: [{ key: 'PORT', value: '3000' }],
    })
  }
  const agent = new Agent({ keepAlive: true })
  await readTimes('GET /services of 500         ', () => Promise.resolve(), ' (aim: p99 under 25 ms)')
  console.log(`resident memory then         ${formatMib(residentBytes(server.pid))} (aim: under 150 MiB)`)
  // Together: whether the work that a change wakes comes before its answer or after it must not decide.
  const patch = async (read: number) => {
    await server.api('PATCH', '/services/service-1', { branch: `branch-${read}` })
  }
  await readTimes('PATCH of one and GET of all  ', patch)
  await readTimes('PATCH and GET /overview      ', patch, ' (aim: p99 under 100 ms)', '/overview')
  agent.destroy()

  async function readTimes(
    name: string,
    before: (read: number) => Promise<void>,
    aim = '',
    path = '/services',
  ): Promise<void> {
    const times: number[] = []
    for (let read = 0; read < WARM_UP + READS; read++) {
      const began = performance.now()
      await before(read)
      await ask(server, path, agent)
      if (read >= WARM_UP) times.push(performance.now() - began)
    }
    console.log(
      `${name}median ${median(times).toFixed(1)} ms, p99 ${percentile(times, 0.99).toFixed(1)} ms${aim}`,
    )
  }
})

// A fresh server: one that has already worked has free memory that an upload can use.
await withServer(async (server) => {
  await server.api('POST', '/services', { name: 'upload' })
  const before = residentBytes(server.pid)
  let peak = before
  const watch = setInterval(() => (peak = Math.max(peak, residentBytes(server.pid))), 20)
  const status = await upload()
  clearInterval(watch)
  console.log(
    `upload of ${formatMib(ARCHIVE_BYTES)}      answered ${status}; resident memory ${formatMib(before)} before, ${formatMib(peak)} at most: ${formatMib(peak - before)} more (aim: at most 32 MiB)`,
  )

  function upload(): Promise<number> {
    return new Promise((resolve, reject) => {
      const outgoing = request(
        `${server.url}/api/v1/services/upload/deploys/upload`,
        {
          method: 'POST',
          headers: { authorization: `Bearer ${server.token}`, 'content-type': 'application/gzip' },
        },
        (response) => {
          response.resume()
          resolve(response.statusCode ?? 0)
        },
      )
      outgoing.once('error', reject)
      const archive = pack()
      archive.pipe(createGzip({ level: 0 })).pipe(outgoing)
      const entry = archive.entry({ name: 'data', size: ARCHIVE_BYTES - 1024 * 1024 }, (error) =>
        error ? reject(error) : archive.finalize(),
      )
      const chunk = randomBytes(CHUNK_BYTES)
      let left = ARCHIVE_BYTES - 1024 * 1024
      const more = (): void => {
        while (left > 0) {
          const size = Math.min(left, chunk.length)
          left -= size
          if (!entry.write(chunk.subarray(0, size))) return void entry.once('drain', more)
        }
        entry.end(Buffer.alloc(0))
      }
      more()
    })
  }
})
