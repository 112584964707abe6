// Measures how long a backup of a disk and its restore take beside tar in a container by hand, in turns, and how much memory
// the server takes meanwhile.
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import type { TestServer } from '../test/support/server.ts'
import { residentBytes } from './lib/processes.ts'
import { median, withServer } from './lib/stand.ts'

const DISK_MIB = Number(process.env.BENCH_DISK_MIB ?? 1_024)
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3)
const MIB = 1_024 * 1_024
const SAMPLE_MS = 50
/** Half of it does not compress, as photos do; the other half does, as texts do. */
const FILL = `cd /data && mkdir files && i=0 && while [ $i -lt ${DISK_MIB / 16} ]; do
  dd if=/dev/urandom of=files/random-$i bs=1M count=8 2>/dev/null
  yes "line $i of a text that repeats" | dd of=files/text-$i bs=1M count=8 iflag=fullblock 2>/dev/null
  i=$((i + 1)); done; sync`
const run = promisify(execFile)

await withServer(async (server, dockerHost) => {
  const docker = async (...args: string[]) => (await run('docker', ['-H', dockerHost, ...args])).stdout.trim()
  const id = await deployed(server)
  const [container] = (await docker('ps', '-q', '--filter', `label=deployer.service=${id}`)).split('\n')
  await docker('exec', container!, 'sh', '-c', FILL)
  const folder = mkdtempSync(join(tmpdir(), 'bench-disk-'))
  const before = residentBytes(server.pid)
  const ours = { backup: [] as number[], restore: [] as number[] }
  const byHand = { backup: [] as number[], restore: [] as number[] }
  let [peak, size, sizeByHand] = [before, 0, 0]
  const sampling = setInterval(() => (peak = Math.max(peak, residentBytes(server.pid))), SAMPLE_MS)
  try {
    let volume = `deployer-${id}`
    for (let round = 0; round < ROUNDS; round++) {
      const made = await timed(() => backUp(server, id))
      ours.backup.push(made.ms)
      size = made.result.size_bytes
      const archive = join(folder, 'disk.tar.gz')
      const mounts = ['-v', `${volume}:/disk`, '-v', `${folder}:/copy`, 'busybox:1']
      const tar = () =>
        docker('run', '--rm', ...mounts, 'tar', '-czf', '/copy/disk.tar.gz', '-C', '/disk', '.')
      byHand.backup.push((await timed(tar)).ms)
      sizeByHand = statSync(archive).size
      ours.restore.push((await timed(() => restore(server, id, made.result.id))).ms)
      volume = await docker('volume', 'create')
      const into = ['-v', `${volume}:/disk`, '-v', `${folder}:/copy`, 'busybox:1']
      const untar = () => docker('run', '--rm', ...into, 'tar', '-xzf', '/copy/disk.tar.gz', '-C', '/disk')
      byHand.restore.push((await timed(untar)).ms)
      await docker('volume', 'rm', volume)
      volume = await volumeOf(docker, id)
    }
  } finally {
    clearInterval(sampling)
    rmSync(folder, { recursive: true })
  }
  for (const what of ['backup', 'restore'] as const)
    console.log(
      `${what.padEnd(8)} of a disk of ${DISK_MIB} MiB ${seconds(ours[what])}, tar by hand ${seconds(byHand[what])} (medians of ${ROUNDS}; ratio ${(median(ours[what]) / median(byHand[what])).toFixed(2)})`,
    )
  console.log(
    `the file has ${(size / MIB).toFixed(0)} MiB, that by hand ${(sizeByHand / MIB).toFixed(0)}; the server grew from ${(before / MIB).toFixed(0)} by ${((peak - before) / MIB).toFixed(0)} MiB`,
  )
})

async function deployed(server: TestServer): Promise<string> {
  const service = {
    name: 'bench-disk',
    image: 'busybox:1',
    type: 'background_worker',
    disk_mount_path: '/data',
  }
  const { body } = await server.api('POST', '/services', { ...service, start_command: 'exec sleep 100000' })
  while ((await server.api('GET', `/services/${body.id}`)).body.state !== 'running') await delay(100)
  return body.id as string
}

async function backUp(server: TestServer, id: string): Promise<{ id: string; size_bytes: number }> {
  const { body } = await server.api('POST', `/services/${id}/disk/backups`)
  for (;;) {
    const backup = (await server.api('GET', `/services/${id}/disk/backups/${body.id}`)).body
    if (backup.status === 'failed') throw new Error(backup.error)
    if (backup.status === 'succeeded') return backup
    await delay(SAMPLE_MS)
  }
}

/** Until the program runs on the restored disk. */
async function restore(server: TestServer, id: string, backup: string): Promise<void> {
  await server.api('POST', `/services/${id}/disk/backups/${backup}/restore`, {})
  for (;;) {
    const { disk_restore, state } = (await server.api('GET', `/services/${id}`)).body
    if (disk_restore.status === 'failed') throw new Error(disk_restore.error)
    if (disk_restore.status === 'succeeded' && state === 'running') return
    await delay(SAMPLE_MS)
  }
}

/** The volume of the service's container. */
async function volumeOf(docker: (...args: string[]) => Promise<string>, id: string): Promise<string> {
  const [container] = (await docker('ps', '-q', '--filter', `label=deployer.service=${id}`)).split('\n')
  return docker('inspect', '-f', '{{range .Mounts}}{{.Name}}{{end}}', container!)
}

async function timed<T>(work: () => Promise<T>): Promise<{ ms: number; result: T }> {
  const began = performance.now()
  const result = await work()
  return { ms: performance.now() - began, result }
}

function seconds(durations: number[]): string {
  return `${(median(durations) / 1_000).toFixed(1)} s`
}
