const STEPS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']

/** "1.5 MiB". */
export function bytes(value: number): string {
  const step = Math.min(STEPS.length - 1, Math.max(0, Math.floor(Math.log2(Math.max(1, value)) / 10)))
  return `${figure(value / 1_024 ** step)} ${STEPS[step]}`
}

/** "1.5 MiB/s". */
export function bytesPerSecond(value: number): string {
  return `${bytes(value)}/s`
}

/** "12.5 %". */
export function percent(value: number): string {
  return `${figure(value)} %`
}

/** "3.2/s". */
export function perSecond(value: number): string {
  return `${figure(value)}/s`
}

/** "850 ms", "1.2 s". */
export function milliseconds(value: number): string {
  return value < 1_000 ? `${figure(value)} ms` : `${figure(value / 1_000)} s`
}

/** At most three significant digits, except for larger whole numbers. */
function figure(value: number): string {
  if (value >= 100) return Math.round(value).toString()
  return Number(value.toFixed(value >= 10 ? 1 : 2)).toString()
}
