// Measures how much later a deploy is live than the same build, run and first response by hand, with the same cache.
import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { commit, createRepository, startGitHttp } from '../test/stand/git.ts'
import { buildByHand } from './lib/build-by-hand.ts'
import { median, withServer } from './lib/stand.ts'

const ROUNDS = 7
/** Often enough to continue soon; the exact time is in the deploy's record. */
const POLL_EVERY_MS = 50
/** Added to every version: otherwise the result of an earlier run would be in the engine's cache. */
const RUN = randomUUID().slice(0, 8)
const run = promisify(execFile)

const dockerfile =
  'FROM busybox:1\nCOPY index.html /www/\nCMD ["sh", "-c", "exec httpd -f -p ${PORT:-10000} -h /www"]\n'

await withServer(async (server, dockerHost) => {
  const docker = (...args: string[]) => run('docker', ['-H', dockerHost, ...args])
  const remote = await startGitHttp()
  const repository = await createRepository({ Dockerfile: dockerfile, 'index.html': 'first' })
  const { body } = await server.api('POST', '/services', { name: 'bench', repo_url: remote.url(repository) })
  await untilLive(body.latest_deploy.id)

  const ours: number[] = []
  const byHand: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    await commit(repository, { 'index.html': `server ${round} ${RUN}` }, `round ${round}`)
    const began = Date.now()
    const deploy = await server.api('POST', '/services/bench/deploys')
    ours.push((await untilLive(deploy.body.id)) - began)
    byHand.push(await deployManually(docker, dockerHost, `hand ${round} ${RUN}`))
    // The old instance is stopped 5 s after it left rotation, which should not slow down the next round.
    await delay(6_000)
  }
  const overhead = ours.map((value, index) => value - byHand[index]!)
  console.log(`deploy: accepted to live     median ${median(ours).toFixed(0)} ms`)
  console.log(`docker build + run + 200     median ${median(byHand).toFixed(0)} ms`)
  console.log(
    `overhead                     median ${median(overhead).toFixed(0)} ms (ratio ${(median(ours) / median(byHand)).toFixed(2)}; aim: at most 500 ms)`,
  )
  await remote.close()

  /** Returns when it went live. */
  async function untilLive(id: string): Promise<number> {
    for (;;) {
      const { body: deploy } = await server.api('GET', `/deploys/${id}`)
      if (deploy.status === 'live') return Date.parse(deploy.finished_at)
      if (/failed|canceled/.test(deploy.status)) throw new Error(`${deploy.status}: ${deploy.error}`)
      await delay(POLL_EVERY_MS)
    }
  }
})

async function deployManually(
  docker: (...args: string[]) => Promise<{ stdout: string }>,
  dockerHost: string,
  text: string,
): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'deployer-bench-'))
  writeFileSync(join(folder, 'Dockerfile'), dockerfile)
  writeFileSync(join(folder, 'index.html'), text)
  const began = performance.now()
  const context = join(folder, 'context.tar')
  await run('tar', ['-cf', context, '-C', folder, 'Dockerfile', 'index.html'])
  await buildByHand(dockerHost, context, 'deployer-bench')
  const container = (await docker('run', '-d', '--init', '--memory', '512m', 'deployer-bench')).stdout.trim()
  const address = (await docker('inspect', '-f', '{{.NetworkSettings.IPAddress}}', container)).stdout.trim()
  for (;;) {
    const answer = await fetch(`http://${address}:10000/`).catch(() => null)
    if (answer?.status === 200) break
    await delay(5)
  }
  const took = performance.now() - began
  await docker('rm', '-f', container)
  await docker('image', 'rm', 'deployer-bench')
  rmSync(folder, { recursive: true, force: true })
  return took
}
