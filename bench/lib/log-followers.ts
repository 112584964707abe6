// Many followers of one log, in a thread of their own, so that reading does not disturb the measurement.
import { request, type ClientRequest } from 'node:http'
import { parentPort, Worker, workerData } from 'node:worker_threads'
import { fileURLToPath } from 'node:url'

/** What all followers together have received. */
export interface FollowersReport {
  /** Followers that have received the last line. */
  done: number
  /** The fewest lines that a follower received, and how many it was told it had missed. */
  fewest: number
  lost: number
  /** Followers whose sum of received and missed lines differs from the others'. */
  wrong: number
}

/** Many followers of one log. */
export interface Followers {
  /** Resolves when each of them has received the line `last`. */
  finished: Promise<FollowersReport>
  close(): Promise<number>
}

/** Opens `count` followers of an address; resolves when every response has begun. */
export async function followMany(url: string, count: number): Promise<Followers> {
  const worker = new Worker(fileURLToPath(import.meta.url), { workerData: { url, count } })
  const { promise: joined, resolve: begin, reject } = Promise.withResolvers<void>()
  const { promise: finished, resolve: finish } = Promise.withResolvers<FollowersReport>()
  worker.on('error', reject)
  worker.on('message', (message: FollowersReport | 'joined') =>
    message === 'joined' ? begin() : finish(message),
  )
  await joined
  return { finished, close: () => worker.terminate() }
}

class Follower {
  lines = 0
  lost = 0
  isOver = false
  #rest = ''

  open(url: string): Promise<ClientRequest> {
    const { promise, resolve, reject } = Promise.withResolvers<ClientRequest>()
    const outgoing = request(url, (response) => {
      response.setEncoding('latin1').on('data', (chunk: string) => this.#take(chunk))
      resolve(outgoing)
    })
    outgoing.on('error', reject)
    outgoing.end()
    return promise
  }

  #take(chunk: string): void {
    const text = this.#rest + chunk
    const end = text.lastIndexOf('\n\n') + 2
    this.#rest = end < 2 ? text : text.slice(end)
    if (end < 2) return
    const whole = text.slice(0, end)
    for (let at = whole.indexOf('"stdout"'); at !== -1; at = whole.indexOf('"stdout"', at + 1)) this.lines++
    if (whole.includes('"system"'))
      for (const [, lost] of whole.matchAll(/"(\d+) lines? (?:was|were) lost here/g))
        this.lost += Number(lost)
    this.isOver ||= whole.includes('"line":"last"')
  }
}

if (parentPort) {
  const { url, count } = workerData as { url: string; count: number }
  const followers = Array.from({ length: count }, () => new Follower())
  await Promise.all(followers.map((follower) => follower.open(url)))
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort.postMessage('joined')
  const look = setInterval(() => {
    if (!followers.every(({ isOver }) => isOver)) return
    clearInterval(look)
    const sums = followers.map(({ lines, lost }) => lines + lost)
    const report: FollowersReport = {
      done: followers.length,
      fewest: Math.min(...followers.map(({ lines }) => lines)),
      lost: Math.max(...followers.map(({ lost }) => lost)),
      wrong: sums.filter((sum) => sum !== Math.max(...sums)).length,
    }
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    parentPort!.postMessage(report)
  }, 100)
}
