// Run as a separate process, with few descriptors, by a test: it inspects itself while none of them is free.
import { closeSync, openSync } from 'node:fs'
import { watchUsage } from '#daemon/reader/usage.ts'

const taken: number[] = []
try {
  for (;;) taken.push(openSync('/dev/null', 'r'))
} catch {
  process.stdout.write('none is free\n')
}
const stop = watchUsage(process.pid, ({ residentBytes }) => {
  process.stdout.write(`seen ${residentBytes > 0}\n`)
  stop()
})
setTimeout(() => taken.forEach((descriptor) => closeSync(descriptor)), 500)
setTimeout(() => {}, 3_000)
