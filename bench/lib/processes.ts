// What the kernel says of processes: proc(5).
import { readFileSync, readdirSync } from 'node:fs'

/** The unit of times in proc(5): USER_HZ, 100 on every architecture that node runs on. */
const TICKS_PER_SECOND = 100

/** User and system time of a process with all its threads. */
export function cpuSeconds(pid: number): number {
  const fields = statFields(pid)
  return (fields[11]! + fields[12]!) / TICKS_PER_SECOND
}

/** User and system time of the programs that a process ran and has waited for. */
export function endedChildrenCpuSeconds(pid: number): number {
  const fields = statFields(pid)
  return (fields[13]! + fields[14]!) / TICKS_PER_SECOND
}

/** The time that all cores together were at work, for anybody, or taken by the machine's host. */
export function machineBusySeconds(): number {
  const line = /^cpu +(.*)$/m.exec(readFileSync('/proc/stat', 'utf8'))![1]!
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = line.split(' ').map(Number)
  return (user + nice + system + irq + softirq + steal) / TICKS_PER_SECOND
}

/** Resident memory, what is shared with others included. */
export function residentBytes(pid: number): number {
  return kibibytes(`/proc/${pid}/status`, /^VmRSS:\s+(\d+)/m)
}

/** Resident memory that no file is behind: heaps and stacks, without the pages of a program that it runs through. */
export function anonymousBytes(pid: number): number {
  return kibibytes(`/proc/${pid}/status`, /^RssAnon:\s+(\d+)/m)
}

/** Memory of its own and its share of what is shared with others (PSS). */
export function proportionalBytes(pid: number): number {
  return kibibytes(`/proc/${pid}/smaps_rollup`, /^Pss:\s+(\d+)/m)
}

export function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number)
}

/** The processes whose command line has all these words in it. */
export function processesWith(...words: string[]): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && words.every((word) => commandLine(pid).includes(word)))
}

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
  } catch {
    // It has ended meanwhile.
    return ''
  }
}

/** The numbers after the name, which may hold spaces: the first is field 3. */
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
