import type { CDPSession, Page } from 'playwright-core'

/** What it took until a page was usable. */
export interface Visit {
  ms: number
  /** As they came over the wire, compressed. */
  scriptBytes: number
  requests: number
}

/**
 * Runs in a page: `usable` is set once something matches the selector, the browser has drawn it, and it is free to answer a
 * click, to a `Visit` with what was loaded by then.
 */
export function whenUsable(selector: string): string {
  return `{
    const note = () => {
      const ms = performance.now()
      const loaded = performance.getEntriesByType('resource').filter((entry) => entry.responseEnd <= ms)
      const scripts = loaded.filter(({ name }) => new URL(name).pathname.endsWith('.js'))
      const scriptBytes = scripts.reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)
      globalThis.usable = { ms, scriptBytes, requests: loaded.length + 1 }
    }
    const watch = new MutationObserver(() => {
      if (document.querySelector(${JSON.stringify(selector)}) === null) return
      watch.disconnect()
      requestAnimationFrame(() => setTimeout(note))
    })
    watch.observe(document, { childList: true, subtree: true })
  }`
}

/** Runs in a page: its log stays open and has what `say(lines)` adds, which resolves once they were shown. */
export const LINES_ARRIVE = `{
  const whole = fetch
  let number = 0
  globalThis.fetch = async (url, ...rest) => {
    if (!/\\/logs\\?.*follow=true/.test(String(url))) return whole(url, ...rest)
    const start = (stream) => {
      globalThis.isOpen = true
      globalThis.say = async (lines) => {
        let events = ''
        for (let at = 0; at < lines; at++) {
          const line = ++number + ' GET /api/orders?page=' + (number % 97) + ' 200 in ' + (number % 13) + ' ms'
          const ts = new Date(1.79e12 + number * 10).toISOString()
          events += 'event: log\\ndata: ' + JSON.stringify({ ts, stream: 'stdout', line, instance: 'talker-a' }) + '\\n\\n'
        }
        stream.enqueue(new TextEncoder().encode(events))
        // Lines are shown in batches of 80 ms.
        await new Promise((resolve) => setTimeout(resolve, lines > 1000 ? 200 : 0))
      }
    }
    return new Response(new ReadableStream({ start }), { headers: { 'content-type': 'text/event-stream' } })
  }
}`

/** Runs in a page: `frames` has the time of each frame from now on. */
export const FRAMES = `{
  globalThis.frames = []
  const note = (time) => {
    globalThis.frames.push(time)
    requestAnimationFrame(note)
  }
  requestAnimationFrame(note)
}`

/** Returns how many frames a page drew a second while something was done, and its longest pause. */
export async function framesDuring(page: Page, action: () => Promise<void>): Promise<string> {
  await page.evaluate('globalThis.frames.length = 0')
  await action()
  const times = await page.evaluate<number[]>('globalThis.frames')
  const pauses = times.slice(1).map((time, at) => time - times[at]!)
  const seconds = (times.at(-1)! - times[0]!) / 1_000
  return `${(pauses.length / seconds).toFixed(1)} frames a second, the longest pause ${Math.max(...pauses).toFixed(0)} ms`
}

/** Returns the memory of a page's objects, once what nobody refers to was removed. */
export async function heapBytes(session: CDPSession): Promise<number> {
  await session.send('HeapProfiler.collectGarbage')
  const { usedSize } = await session.send('Runtime.getHeapUsage')
  return usedSize
}
