import { z } from 'zod'
import { AppError } from '../errors.ts'
import { SERVICE_TYPES, TYPES, type ServiceType } from '../services/types.ts'

export const SAMPLE_NAMES = ['site', 'server'] as const
export type SampleName = (typeof SAMPLE_NAMES)[number]

export const Sample = z
  .object({
    name: z.enum(SAMPLE_NAMES).meta({ examples: ['site'] }),
    title: z.string().meta({ examples: ['A static site'] }),
    description: z.string().meta({ examples: ['Two pages that this server serves itself'] }),
    types: z.array(z.enum(SERVICE_TYPES)).meta({
      description: 'The types of service that run it, the usual one first',
      examples: [['static_site']],
    }),
  })
  .meta({
    id: 'Sample',
    description: 'A small application that the server brings, to try it without a source',
  })
export type Sample = z.infer<typeof Sample>

const SAMPLES: Record<SampleName, Omit<Sample, 'name'>> = {
  site: {
    title: 'A static site',
    description: 'Two pages and a 404 page, which this server serves itself.',
    types: ['static_site'],
  },
  server: {
    title: 'A small server',
    description: 'A Node program in a container, with logs, a variable and instances to try.',
    types: ['web_service', 'private_service'],
  },
}

/** All samples, in the order in which people see them. */
export function samples(): Sample[] {
  return SAMPLE_NAMES.map((name) => ({ name, ...SAMPLES[name] }))
}

/** Throws `invalid_request` if services of this type do not run the sample. */
export function assertRuns(sample: SampleName, { type }: { type: ServiceType }): void {
  const { types } = SAMPLES[sample]
  if (types.includes(type)) return
  throw new AppError(
    'invalid_request',
    `sample: ${sample} does not run as ${TYPES[type].label}: create a service of type ${types.join(' or ')} for it`,
  )
}
