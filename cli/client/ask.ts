import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import type { Call } from '../call.ts'
import { oneLine } from '../clean-text.ts'
import { wrong } from '../fault.ts'

/**
 * Asks a question on standard error. Check `call.mayAsk` first. Throws Fault if there is no answer. A hidden answer keeps its
 * spaces if `isExact`, and may then be empty.
 */
export async function ask(asked: string, { isHidden = false, isExact = false } = {}): Promise<string> {
  // It may name what others have written, such as the message of a commit.
  const question = oneLine(asked)
  const hidden = new Writable({ write: (_, __, done) => done() })
  const lines = createInterface({
    input: process.stdin,
    output: isHidden ? hidden : process.stderr,
    terminal: true,
    historySize: 0,
  })
  // The terminal shows what is typed before this.
  if (isHidden) process.stderr.write(`${question} `)
  try {
    const end = new AbortController()
    lines.once('close', () => end.abort())
    lines.once('SIGINT', () => process.kill(process.pid, 'SIGINT'))
    const answer = await lines.question(isHidden ? '' : `${question} `, { signal: end.signal })
    if (isExact) return answer
    if (answer.trim() === '') throw wrong('nothing was answered')
    return answer.trim()
  } catch (error) {
    if ((error as Error).name === 'AbortError') throw wrong('nothing was answered')
    throw error
  } finally {
    if (isHidden) process.stderr.write('\n')
    lines.close()
  }
}

/**
 * Has a change confirmed: by `--yes`, or by an answer on a terminal. Throws Fault, before anything is done, where it cannot be
 * asked or the answer is no. `typed` must be typed as the answer.
 */
export async function confirm(call: Call, question: string, typed: string | null = null): Promise<void> {
  if (call.has('yes')) return
  if (!call.mayAsk) throw wrong(`${question} Say --yes: this cannot be asked here`)
  const answer = await ask(typed === null ? `${question} [y/N]` : `${question} Type ${typed} to go on:`)
  const isYes = typed === null ? /^y(es)?$/i.test(answer) : answer === typed
  if (!isYes) throw wrong('nothing was changed')
}
