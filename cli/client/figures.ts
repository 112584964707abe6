import type { Output } from '../output.ts'

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
const MINUTE_S = 60
const HOUR_S = 60 * MINUTE_S
const DAY_S = 24 * HOUR_S

/** A size as people read it: `12.3 MiB`. */
export function sizeText(bytes: number): string {
  const unit = Math.min(UNITS.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10))
  return unit === 0 ? `${bytes} B` : `${(bytes / 1_024 ** unit).toFixed(1)} ${UNITS[unit]}`
}

/** A time of the API: relative on a terminal (`3 min ago`), as it came for programs; empty for null. */
export function timeText(out: Output, timestamp: string | null, now: number = Date.now()): string {
  if (timestamp === null) return ''
  return out.isTerminal ? ago(Math.round((now - Date.parse(timestamp)) / 1_000)) : timestamp
}

function ago(seconds: number): string {
  return seconds < 0
    ? `in ${durationText(-seconds)}`
    : seconds < 5
      ? 'just now'
      : `${durationText(seconds)} ago`
}

/** A duration as people read it, in its largest unit. */
export function durationText(seconds: number): string {
  if (seconds < MINUTE_S) return `${seconds} s`
  if (seconds < HOUR_S) return `${Math.floor(seconds / MINUTE_S)} min`
  if (seconds < DAY_S) return `${Math.floor(seconds / HOUR_S)} h`
  return `${Math.floor(seconds / DAY_S)} days`
}
