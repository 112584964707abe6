// What the kernel says about processes: proc(5).
import { readFileSync, readdirSync } from 'node:fs'

/** The unit of times in proc(5): USER_HZ, 100 on every architecture that node runs on. */
const TICKS_PER_SECOND = 100

/** Returns the user and system time of a process with all its threads. */
export function cpuSeconds(pid: number): number {
  const fields = statFields(pid)
  return (fields[11]! + fields[12]!) / TICKS_PER_SECOND
}

/** Returns the user and system time of programs that a process ran and has waited for. */
export function endedChildrenCpuSeconds(pid: number): number {
  const fields = statFields(pid)
  return (fields[13]! + fields[14]!) / TICKS_PER_SECOND
}

/** Returns how long all cores together were busy, for any process or taken by the hypervisor. */
export function machineBusySeconds(): number {
  const line = /^cpu +(.*)$/m.exec(readFileSync('/proc/stat', 'utf8'))![1]!
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = line.split(' ').map(Number)
  return (user + nice + system + irq + softirq + steal) / TICKS_PER_SECOND
}

/** Returns resident memory, including memory shared with others. */
export function residentBytes(pid: number): number {
  return kibibytes(`/proc/${pid}/status`, /^VmRSS:\s+(\d+)/m)
}

/** Returns the most memory that was resident so far, including memory shared with others. */
export function peakBytes(pid: number): number {
  return kibibytes(`/proc/${pid}/status`, /^VmHWM:\s+(\d+)/m)
}

/** Returns resident memory without a file behind it: heaps and stacks, without the pages of programs. */
export function anonymousBytes(pid: number): number {
  return kibibytes(`/proc/${pid}/status`, /^RssAnon:\s+(\d+)/m)
}

/** Returns a process's own memory and its share of shared memory (PSS). */
export function proportionalBytes(pid: number): number {
  return kibibytes(`/proc/${pid}/smaps_rollup`, /^Pss:\s+(\d+)/m)
}

export function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
}

/** Returns the processes whose command line contains all these words. */
export function processesWith(...words: string[]): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && words.every((word) => commandLine(pid).includes(word)))
}

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
  } catch {
    // The process has just ended.
    return ''
  }
}

/** Returns the numbers after the name, which may contain spaces: the first is field 3. */
function statFields(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  return text
    .slice(text.lastIndexOf(') ') + 2)
    .split(' ')
    .map(Number)
}

function kibibytes(file: string, line: RegExp): number {
  return Number(line.exec(readFileSync(file, 'utf8'))?.[1] ?? Number.NaN) * 1024
}
