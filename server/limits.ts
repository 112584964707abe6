import { z } from 'zod'

/** Nothing useful starts with less. */
export const MIN_MEMORY_MB = 16
const MAX_MEMORY_MB = 1024 * 1024
const MIN_CPUS = 0.01
const MAX_CPUS = 512

/** A memory limit as requested. */
export const MemoryLimit = z
  .int()
  .refine(
    (value) => value === 0 || (value >= MIN_MEMORY_MB && value <= MAX_MEMORY_MB),
    `must be 0 (the server default) or ${MIN_MEMORY_MB} to ${MAX_MEMORY_MB}`,
  )
  .meta({
    description: 'MiB; 0 is the server default',
    examples: [512],
    anyOf: [{ const: 0 }, { minimum: MIN_MEMORY_MB, maximum: MAX_MEMORY_MB }],
  })

/** A CPU limit as requested. */
export const CpuLimit = z
  .number()
  .refine(
    (value) => value === 0 || (value >= MIN_CPUS && value <= MAX_CPUS),
    `must be 0 (the server default) or ${MIN_CPUS} to ${MAX_CPUS}`,
  )
  .transform((value) => Math.round(value * 100) / 100)
  .meta({
    description: 'CPUs, rounded to 0.01; 0 is the server default',
    examples: [1],
    anyOf: [{ const: 0 }, { minimum: MIN_CPUS, maximum: MAX_CPUS }],
  })
